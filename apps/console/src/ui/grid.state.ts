/** Chromium and Firefox cap the height of an element; beyond it the scroll bar stands for rows in proportion. */
export const maxHeight = 15_000_000;

/** So many rows are in the document at most. */
export const mostRows = 60;
/** So many rows are drawn above and below those that are seen, so that a little scrolling shows no gap. */
const overscan = 8;

/** The share of the scrolled height that a row stands for: its own height, or less where all rows are higher than a browser can scroll. */
export function rowStep(rowHeight: number, total: number): number {
  return Math.min(rowHeight, maxHeight / Math.max(1, total));
}

/** What is seen of a grid. */
export interface Seen {
  /** How far it is scrolled. */
  readonly offset: number;
  /** How high the part of the window is that shows rows. */
  readonly view: number;
  readonly total: number;
  readonly rowHeight: number;
}

/** How far it can be scrolled, how far the rows can, and how many pixels of the rows one pixel of the scroll bar stands for. */
function rangesOf({ view, total, rowHeight }: Seen) {
  const scrolled = Math.max(0, total * rowStep(rowHeight, total) - view);
  const rows = Math.max(0, total * rowHeight - view);
  return { scrolled, rows, ratio: scrolled === 0 ? 1 : rows / scrolled };
}

/** How far the rows are scrolled: the ends of the scroll bar are those of the rows. A bounce beyond an end moves no row. */
function topOf(seen: Seen): { offset: number; top: number } {
  const { scrolled, rows, ratio } = rangesOf(seen);
  const offset = Math.max(0, Math.min(seen.offset, scrolled));
  return { offset, top: Math.min(rows, offset * ratio) };
}

/** A row, and where it is drawn. */
export interface PlacedRow {
  readonly index: number;
  readonly start: number;
}

/** The rows that are in the document. They have their real height at any number of rows, and lie around the place that is scrolled to. */
export function rowsAt(seen: Seen): PlacedRow[] {
  const { view, total, rowHeight } = seen;
  if (view <= 0) return [];
  const { offset, top } = topOf(seen);
  const [from, to] = [Math.floor(top / rowHeight), Math.ceil((top + view) / rowHeight)];
  const more = Math.max(0, Math.min(overscan, Math.floor((mostRows - (to - from)) / 2)));
  const first = Math.max(0, from - more);
  const end = Math.min(total, to + more, first + mostRows);
  // All rows are moved by the same whole number, so that none overlaps the next by a rounded pixel.
  const moved = Math.round(offset - top);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => ({ index: first + at, start: (first + at) * rowHeight + moved }));
}

/** How far to scroll so that a row is wholly seen; as far as it is, if it is seen already. */
export function offsetFor(row: number, seen: Seen): number {
  const { view, rowHeight } = seen;
  const { scrolled, ratio } = rangesOf(seen);
  const { offset, top } = topOf(seen);
  const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
  // Browsers scroll by whole pixels: it is rounded to the side on which the row is still seen.
  if (start < top) return Math.floor(start / ratio);
  return end > top + view ? Math.min(scrolled, Math.ceil((end - view) / ratio)) : offset;
}

/** The least width of a row, so that all rows are as wide as their head: the columns at their least, with gaps and margins. */
export function leastWidth(widths: readonly string[], gap = 16, margins = 32): number {
  const columns = widths.map((width) => Number(/\d+/.exec(width)?.[0] ?? 0));
  return columns.reduce((all, width) => all + width, 0) + gap * Math.max(0, widths.length - 1) + margins;
}

/** The pages of `size` rows that these rows are on, in order. */
export function pagesOf(rows: readonly number[], size: number): number[] {
  return [...new Set(rows.map((row) => Math.floor(row / size)))].sort((a, b) => a - b);
}

/** Where the keys of a grid lead to from a row; undefined for keys that do not move. */
export function movedTo(key: string, row: number, total: number, visible: number): number | undefined {
  const moves: Record<string, number> = {
    ArrowDown: row + 1,
    j: row + 1,
    ArrowUp: row - 1,
    k: row - 1,
    PageDown: row + visible,
    PageUp: row - visible,
    Home: 0,
    End: total - 1,
  };
  const to = moves[key];
  return to === undefined ? undefined : Math.max(0, Math.min(total - 1, to));
}

/** The next sort of a column: ascending, descending, then that of the server. */
export function nextSort(sort: string | undefined, field: string): string | undefined {
  if (sort === `${field}:ASC`) return `${field}:DESC`;
  return sort === `${field}:DESC` ? undefined : `${field}:ASC`;
}
