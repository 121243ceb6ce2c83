import { useQueries } from "@tanstack/react-query";
import { useElementScrollRestoration } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import type { Asked } from "../api/client.ts";
import { grids as t } from "../text/en.ts";
import style from "./grid.module.css";
import { leastWidth, movedTo, nextSort, offsetFor, pagesOf, rowStep, rowsAt } from "./grid.state.ts";
import { Failure } from "./states.tsx";

const headHeight = 36;
/** The head and the borders of the box, and a pixel that rounding may need. */
const besideRows = headHeight + 3;

/** Rows are asked for by so many. */
export const pageSize = 200;

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  /** A track of CSS grid: `minmax(160px, 1fr)`. */
  readonly width: string;
  /** The field of the server's `sort`, if it has one for this column. */
  readonly sort?: string;
  readonly cell: (row: Row) => ReactNode;
}

interface PageOf<Row> {
  readonly content: readonly Row[];
}

interface GridProps<Row> {
  readonly label: string;
  readonly total: number;
  readonly columns: readonly Column<Row>[];
  /** The query of a page of `pageSize` rows. */
  readonly page: (index: number) => Asked<PageOf<Row>> & { readonly refetchInterval?: number };
  readonly open?: (row: Row) => void;
  readonly rowHeight?: number;
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string | undefined) => void;
  readonly selection?: Selection<Row>;
}

export interface Selection<Row> {
  readonly has: (row: Row) => boolean;
  readonly toggle: (row: Row) => void;
  readonly name: (row: Row) => string;
}

/**
 * A grid of any number of rows: what is seen is in the document, and what is near is asked for. It is one stop of the Tab key; arrows move, Enter
 * opens, x chooses.
 */
export function Grid<Row>(props: GridProps<Row>) {
  const { label, total, columns, page, rowHeight = 40, selection } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const step = rowStep(rowHeight, total);
  const before = useElementScrollRestoration({ id: label });
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => step,
    overscan: 8,
    // Whoever comes back to the page finds the rows that they left.
    ...(before && { initialOffset: before.scrollY }),
  });
  useEffect(() => rows.measure(), [rows, step]);
  // What is in the window is told by the box itself, without its scroll bars; before it is in the document, by what was seen of it last.
  const seenAt = (offset: number | null) => ({
    offset: offset ?? 0,
    view: (box.current?.clientHeight ?? rows.scrollRect?.height ?? 0) - headHeight,
    total,
    rowHeight,
  });
  const shown = rowsAt(seenAt(rows.scrollOffset));
  const pages = pagesOf(
    shown.map(({ index }) => index),
    pageSize,
  );
  const loaded = useQueries({ queries: pages.map(page) });
  const rowAt = (index: number): Row | undefined => loaded[pages.indexOf(Math.floor(index / pageSize))]?.data?.content[index % pageSize];
  const show = (row: number) => box.current?.scrollTo({ top: offsetFor(row, seenAt(box.current.scrollTop)) });
  const { active, onKey } = useRowKeys(props, box.current, rowAt, show);
  const failed = loaded.find(({ error, data }) => error !== null && data === undefined);
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  const widths = [...(selection ? ["20px"] : []), ...columns.map(({ width }) => width)];
  const tracks = { gridTemplateColumns: widths.join(" "), minWidth: leastWidth(widths) };
  const hasActive = shown.some(({ index }) => index === active);
  return (
    <div
      ref={box}
      className={style["box"]}
      style={{ maxHeight: total * step + besideRows }}
      role="grid"
      aria-label={label}
      data-scroll-restoration-id={label}
      aria-rowcount={total + 1}
      tabIndex={0}
      onKeyDown={onKey}
      aria-activedescendant={hasActive ? `${id}-${active}` : undefined}
    >
      <Heads {...props} tracks={tracks} />
      <div role="rowgroup" className={style["body"]} style={{ height: total * step }}>
        {shown.map(({ index, start }) => (
          <RowOf
            key={index}
            {...props}
            id={`${id}-${index}`}
            index={index}
            active={index === active}
            place={{ ...tracks, height: rowHeight, transform: `translateY(${start}px)` }}
            row={rowAt(index)}
          />
        ))}
      </div>
    </div>
  );
}

type Tracks = { readonly gridTemplateColumns: string; readonly minWidth: number };

function Heads<Row>({ columns, sort, onSort, selection, tracks }: GridProps<Row> & { tracks: Tracks }) {
  return (
    <div role="row" aria-rowindex={1} className={style["head"]} style={tracks}>
      {selection && (
        <span role="columnheader">
          <span className="hidden">{t.chosen}</span>
        </span>
      )}
      {columns.map((column) => (
        <Head key={column.id} column={column} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function Head<Row>({ column, sort, onSort }: { column: Column<Row>; sort?: string | undefined; onSort?: GridProps<Row>["onSort"] }) {
  const field = column.sort;
  const direction =
    field === undefined ? undefined : sort === `${field}:ASC` ? "ascending" : sort === `${field}:DESC` ? "descending" : "none";
  const Arrow = direction === "ascending" ? ArrowUp : ArrowDown;
  return (
    <span role="columnheader" className={style["cell"]} aria-sort={direction}>
      {field === undefined || onSort === undefined ? (
        column.head
      ) : (
        <button type="button" className={style["sort"]} onClick={() => onSort(nextSort(sort, field))}>
          {column.head}
          {direction !== "none" && <Arrow size={12} aria-hidden />}
        </button>
      )}
    </span>
  );
}

interface RowProps<Row> extends GridProps<Row> {
  readonly id: string;
  readonly index: number;
  readonly active: boolean;
  readonly place: object;
  readonly row: Row | undefined;
}

function RowOf<Row>({ id, index, active, place, row, columns, open, selection }: RowProps<Row>) {
  const press = (event: MouseEvent) => {
    // A link or a box in the row speaks for itself, and a marked text is to be copied.
    if ((event.target as Element).closest("a,button,input") || getSelection()?.type === "Range") return;
    if (row !== undefined) open?.(row);
  };
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      className={style["row"]}
      data-active={active}
      data-link={open ? "" : undefined}
      style={place}
      onClick={press}
    >
      {selection && (
        <span role="gridcell" className={style["choice"]}>
          {row !== undefined && (
            <input
              type="checkbox"
              tabIndex={-1}
              className={style["check"]}
              checked={selection.has(row)}
              onChange={() => selection.toggle(row)}
              aria-label={t.choose(selection.name(row))}
            />
          )}
        </span>
      )}
      {columns.map((column) => (
        <span key={column.id} role="gridcell" className={style["cell"]}>
          {row === undefined ? <span className={style["wait"]} /> : column.cell(row)}
        </span>
      ))}
    </div>
  );
}

/** The row that the keys are at; -1 before the first key. */
function useRowKeys<Row>(
  { total, open, selection, rowHeight = 40 }: GridProps<Row>,
  box: HTMLDivElement | null,
  rowAt: (index: number) => Row | undefined,
  show: (index: number) => void,
) {
  const [active, setActive] = useState(-1);
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rowAt(active);
    if (event.key === "Enter" && row !== undefined) return open?.(row);
    if ((event.key === "x" || event.key === " ") && row !== undefined && selection) {
      event.preventDefault();
      return selection.toggle(row);
    }
    const to = movedTo(event.key, active, total, Math.max(1, Math.floor((box?.clientHeight ?? 400) / rowHeight) - 2));
    if (to === undefined || total === 0) return;
    event.preventDefault();
    setActive(to);
    show(to);
  };
  return { active, onKey };
}
