// SPDX-License-Identifier: GPL-3.0-or-later

/* The looks, and what they share. */

#pragma once

#include "views/out.h"
#include "views/views.h"

typedef bool Renderer (const View *view,
                       const ViewRequest *request,
                       const Rows *rows,
                       GOutputStream *stream,
                       GError **error);

Renderer sysprof_render_text;
Renderer sysprof_render_json;
Renderer sysprof_render_html;
Renderer sysprof_render_svg;
Renderer sysprof_render_svg_graphs;
Renderer sysprof_render_folded;
Renderer sysprof_render_csv;
Renderer sysprof_render_markdown;

/* --- facts about the capture (capture-facts.c) --- */

/* Stacks of all samples, before any selection. */
typedef struct
{
  uint64_t samples;
  uint64_t whole;
  uint64_t kernel_only;
  uint64_t cut;
  uint64_t empty;
  uint64_t not_unwound;
} StackFacts;

StackFacts sysprof_stack_facts (const ViewRequest *request);
/* Path of the capture for people. */
const char *sysprof_capture_path (const ViewRequest *request);
/* "12.4 s", "830 ms". *(full)* */
char *sysprof_dup_duration (int64_t nsec);
/* Lines for people about machine, time and quality; NULL-terminated. *(full)* */
char **sysprof_dup_machine_facts (const ViewRequest *request);

/* --- words around rows (headings.c) --- */

/* "1,234 samples in 12.4 s". *(full)* */
char *sysprof_dup_amount (const ViewRequest *request, const Rows *rows);
/* "functions of run.syscap: 1,234 samples in 12.4 s". One line. *(full)* */
char *sysprof_dup_heading (const View *view, const ViewRequest *request, const Rows *rows);
/* What stands in place of rows where there are none: why, and what to do. One line. *(full)* */
char *sysprof_dup_emptiness (const ViewRequest *request, const Rows *rows);

/* --- cells (cells.c) --- */

/* The cell as people read it, without its share; one line of valid UTF-8. *(full)* */
char *sysprof_dup_cell (const Column *column, Cell cell);
/* The same without a copy where none is needed, as for numbers and plain names, of which a tree may have millions: valid
 * until `room` is cleared. */
typedef struct
{
  char number[SYSPROF_GROUPED_SIZE];
  char *owned; /* or NULL */
} CellText;

const char *sysprof_cell_text (const Column *column, Cell cell, CellText *room);
void sysprof_cell_text_clear (CellText *room);
/* The functions of a stack without their places, with names as short as they can be or whole. *(full)* */
char *sysprof_dup_bare_stack (const StackText *stack, bool is_short);
bool sysprof_column_is_figure (const Column *column);
/* Whether there is no number: "-" for people, null in JSON, empty in CSV. */
bool sysprof_cell_is_none (const Column *column, Cell cell);
/* For programs: whole numbers without a point, others with all their figures. */
const char *sysprof_format_real (double value, char buffer[G_ASCII_DTOSTR_BUF_SIZE]);
/* As blocks of eight heights, a column for so many values each: their mean. *(full)* */
char *sysprof_dup_graph (const GraphValues *graph, unsigned squeeze);
/* 0 … 1: how high a value stands between these; 0 where nothing lies between them. */
double sysprof_graph_share (double value, double least, double most);
/* Index of a column of graphs that people see, -1 without one. */
int sysprof_rows_graph_column (const Rows *rows);
/* What the lowest and the highest value are drawn as: `least` > `most` if there is none. */
void sysprof_graph_limits (const GraphValues *graph, double *least, double *most);

/* --- places: file and line beside the names of functions (places.c) --- */

/* "sort.c:123", or "sort.c:123, inlined": without folders, which are long and mostly the same. One line; NULL where there is nothing to
 * say, as no line is known (0). *(full)* */
char *sysprof_dup_place (const char *file, uint32_t line, bool is_inlined);
/* The same of an entry of a stack: the line that was met. */
char *sysprof_dup_place_of_entry (const StackEntry *entry);

/* Where the functions of rows are written, as the columns "file" and "line" say, and whether they are inlined, as "inlined" does. */
typedef struct
{
  const Rows *rows;
  uint32_t function; /* column that shows their names; UINT32_MAX = none does */
  int file;
  int line;
  int inlined; /* -1 = there is none */
} Places;

void sysprof_places_init (Places *self, const Rows *rows);
/* The line and, borrowed, the whole name of the file; 0 and "" where that is not known. */
uint32_t sysprof_places_find (const Places *self, uint32_t row, const char **file);
bool sysprof_places_is_inlined (const Places *self, uint32_t row);
/* What stands beside a cell: NULL but for the name of a function of which something is known. *(full)* */
char *sysprof_places_dup (const Places *self, uint32_t row, uint32_t column);

/* --- sections: a view that is made of others (sections.c) --- */

typedef struct
{
  const View *view;
  ViewRequest request; /* as it was filled */
  Rows rows;
  uint32_t n_wanted; /* rows that one screen holds */
} FilledSection;

size_t sysprof_count_sections (const View *view);
/* Clear its rows. All rows if `is_whole`, or as many as the request says, else what fits one screen. */
bool sysprof_fill_section (const ViewSection *section,
                           const ViewRequest *request,
                           bool is_whole,
                           FilledSection *filled,
                           GError **error);

typedef void
SectionFunc (const View *view, const ViewRequest *request, const Rows *rows, void *data);
/* Calls `func` for each section of `view` with its rows: as many as the request says, else all if `is_whole`, else what
 * fits one screen. A section that cannot be filled is an error. */
bool sysprof_for_each_section (const View *view,
                               const ViewRequest *request,
                               bool is_whole,
                               SectionFunc *func,
                               void *data,
                               GError **error);
