/** Chromium and Firefox cap the height of an element; beyond it the scroll bar stands for rows in proportion. */
export const maxHeight = 15_000_000;

/** How high the rows are drawn: as they are, or squeezed into what a browser can scroll. */
export function rowStep(rowHeight: number, total: number): number {
  return Math.min(rowHeight, maxHeight / Math.max(1, total));
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
