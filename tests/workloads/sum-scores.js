// SPDX-License-Identifier: GPL-3.0-or-later

// A loop over numbers in sumScores, which JavaScript's compiler translates while it runs.
'use strict';

function sumScores(scores) {
  let sum = 0;
  for (let i = 0; i < scores.length; i++)
    sum += Math.sqrt(scores[i]) * (i % 7);
  return sum;
}

const scores = Float64Array.from({ length: 100000 }, (_, i) => i);
let total = 0;
for (let i = 0; i < 6000; i++)
  total += sumScores(scores);
console.log(total);
