// SPDX-License-Identifier: GPL-3.0-or-later

//! Rust: closures, trait objects, iterators, drops, panics that are caught (where they unwind), threads.

use std::arch::asm;
use std::cell::Cell;
use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::{compiler_fence, AtomicBool, AtomicU32, Ordering};

const BASE: u64 = 0x1000_0000_0000;
const SIZE: u64 = 0x10000;
const LISTS: u64 = 1 << 22;

/// truth.h has the layout.
#[repr(C)]
struct Truth {
    n: u32,
    is_unsettled: u32,
    id: [u16; 32000],
}

thread_local! {
    static MINE: Cell<*mut Truth> = const { Cell::new(std::ptr::null_mut()) };
}

static SINK: AtomicU32 = AtomicU32::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

unsafe fn call_kernel(number: u64, a: u64, b: u64, c: u64, d: u64) -> u64 {
    let result: u64;
    asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
         in("r8") u64::MAX, in("r9") 0u64, out("rcx") _, out("r11") _);
    result
}

fn begin_list() {
    unsafe {
        let place = BASE + (call_kernel(186, 0, 0, 0, 0) & (LISTS - 1)) * SIZE;
        // Private, anonymous, fixed, populated.
        assert_eq!(call_kernel(9, place, SIZE, 3, 0x8032), place);
        MINE.with(|mine| mine.set(place as *mut Truth));
    }
}

/// On the list as long as it lives.
struct Listed;

impl Listed {
    #[inline(always)]
    fn new(number: u16) -> Listed {
        MINE.with(|mine| unsafe {
            let list = mine.get();
            std::ptr::write_volatile(std::ptr::addr_of_mut!((*list).id[(*list).n as usize]), number);
            compiler_fence(Ordering::SeqCst);
            std::ptr::write_volatile(std::ptr::addr_of_mut!((*list).n), (*list).n + 1);
            compiler_fence(Ordering::SeqCst);
        });
        Listed
    }
}

impl Drop for Listed {
    #[inline(always)]
    fn drop(&mut self) {
        MINE.with(|mine| unsafe {
            let list = mine.get();
            compiler_fence(Ordering::SeqCst);
            std::ptr::write_volatile(std::ptr::addr_of_mut!((*list).n), (*list).n - 1);
            compiler_fence(Ordering::SeqCst);
        });
    }
}

#[inline(never)]
fn listed1_leaf(x: u32) -> u32 {
    let _here = Listed::new(1);
    for i in 0..60 {
        SINK.fetch_add(x.wrapping_mul(7) + i, Ordering::Relaxed);
    }
    SINK.load(Ordering::Relaxed)
}

trait Shape {
    fn area(&self, x: u32) -> u32;
}

struct Square(u32);
struct Circle(u32, u32);

#[inline(never)]
fn listed2_square(x: u32) -> u32 {
    let _here = Listed::new(2);
    listed1_leaf(x).wrapping_mul(x)
}

#[inline(never)]
fn listed3_circle(x: u32) -> u32 {
    let _here = Listed::new(3);
    listed1_leaf(x).wrapping_mul(3)
}

impl Shape for Square {
    fn area(&self, x: u32) -> u32 {
        listed2_square(x).wrapping_add(self.0)
    }
}

impl Shape for Circle {
    fn area(&self, x: u32) -> u32 {
        listed3_circle(x).wrapping_add(self.0 + self.1)
    }
}

#[inline(never)]
fn listed4_sum_areas(shapes: &[Box<dyn Shape>]) -> u32 {
    let _here = Listed::new(4);
    shapes.iter().enumerate().map(|(i, shape)| shape.area(i as u32)).fold(0, u32::wrapping_add)
}

#[inline(never)]
fn listed5_compare(a: &u32, b: &u32) -> std::cmp::Ordering {
    let _here = Listed::new(5);
    listed1_leaf(*a);
    a.cmp(b)
}

#[inline(never)]
fn listed6_sort(seed: u32) -> u32 {
    let _here = Listed::new(6);
    let mut numbers: Vec<u32> = (0..24).map(|i| (seed + i).wrapping_mul(2654435761)).collect();
    numbers.sort_by(listed5_compare);
    let names: HashMap<String, u32> = numbers.iter().map(|n| (format!("number {n}"), *n)).collect();
    names.len() as u32 + numbers[0]
}

#[inline(never)]
fn listed7_through_box(function: &dyn Fn(u32) -> u32) -> u32 {
    let _here = Listed::new(7);
    function(7).wrapping_add(1)
}

#[inline(never)]
fn listed8_recurse(depth: u32) -> u32 {
    let _here = Listed::new(8);
    let text = vec![depth as u8; 50];
    if depth == 0 {
        return listed1_leaf(1);
    }
    listed8_recurse(depth - 1).wrapping_add(text[depth as usize % 50] as u32)
}

struct Ends(u32);

#[inline(never)]
fn listed9_drop(x: u32) {
    let _here = Listed::new(9);
    listed1_leaf(x);
}

impl Drop for Ends {
    fn drop(&mut self) {
        listed9_drop(self.0);
    }
}

#[cfg(panic = "unwind")]
mod panics {
    use super::*;

    #[inline(never)]
    fn listed10_panic(depth: u32) -> u32 {
        let _here = Listed::new(10);
        let _ends = Ends(depth);
        if depth == 0 {
            std::panic::resume_unwind(Box::new(1u32));
        }
        listed10_panic(depth - 1) + 1
    }

    #[inline(never)]
    pub fn listed11_catch(x: u32) -> u32 {
        let _here = Listed::new(11);
        let result = std::panic::catch_unwind(|| listed10_panic(x % 8));
        listed1_leaf(result.is_err() as u32)
    }
}

#[inline(never)]
fn listed12_round(round: u32) -> u32 {
    let _here = Listed::new(12);
    let shapes: Vec<Box<dyn Shape>> =
        (0..8).map(|i| if i & 1 == 1 { Box::new(Square(i)) as Box<dyn Shape> } else { Box::new(Circle(i, 1)) }).collect();
    let mut result = listed4_sum_areas(&shapes);
    result = result.wrapping_add(listed6_sort(round));
    result = result.wrapping_add(listed7_through_box(&|x| listed1_leaf(x + round) ^ listed1_leaf(x)));
    result = result.wrapping_add(listed8_recurse(40));
    if round % 16 == 0 {
        result = result.wrapping_add(listed8_recurse(5500));
    }
    #[cfg(panic = "unwind")]
    {
        result = result.wrapping_add(panics::listed11_catch(round));
    }
    let _ends = Ends(result);
    result
}

#[inline(never)]
fn listed13_worker() {
    begin_list();
    let _here = Listed::new(13);
    let mut round = 1;
    while !IS_OVER.load(Ordering::Relaxed) {
        SINK.fetch_add(listed12_round(round), Ordering::Relaxed);
        round = round.wrapping_add(1) & 0xffff;
    }
}

fn main() {
    let worker = std::thread::spawn(listed13_worker);
    println!("ready");
    let _ = std::io::stdin().read(&mut [0; 1]);
    IS_OVER.store(true, Ordering::Relaxed);
    let _ = worker.join();
}
