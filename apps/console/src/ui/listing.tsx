import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Asked } from "../api/client.ts";
import { type Column, Grid, pageSize } from "./grid.tsx";
import style from "./listing.module.css";
import { NothingMatches } from "./nothing-matches.tsx";
import { Failure, Skeleton } from "./states.tsx";

interface PageOf<Row> {
  readonly content: readonly Row[];
  readonly total?: number | undefined;
}

export interface ListingProps<Row> {
  readonly label: string;
  /** The query of so many rows after so many others, of those that match. */
  readonly rows: (offset: number, limit: number, q?: string) => Asked<PageOf<Row>>;
  /** The filter of the list. */
  readonly q?: string | undefined;
  readonly columns: readonly Column<Row>[];
  /** What is shown while there is nothing at all: why, and the next step. */
  readonly empty: ReactNode;
  /** Ends the filter of the list; it is absent while there is none. */
  readonly clear?: (() => void) | undefined;
  readonly open?: (row: Row) => void;
  readonly rowHeight?: number;
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string | undefined) => void;
  /** How often it is asked for again, in milliseconds; never if absent. */
  readonly pollMs?: number;
}

/** A list with all its states: loading, failed, empty, empty by its filter, and rows. */
export function Listing<Row>({ label, rows, q, columns, empty, clear, open, rowHeight, sort, onSort, pollMs }: ListingProps<Row>) {
  const again = pollMs === undefined ? {} : { refetchInterval: pollMs };
  const { data, error, refetch } = useQuery({ ...rows(0, 1, q), ...again, placeholderData: keepPreviousData });
  if (data === undefined) return error === null ? <Skeleton lines={6} /> : <Failure error={error} retry={() => void refetch()} />;
  const { total = 0 } = data;
  if (total === 0) return clear === undefined ? empty : <NothingMatches all={rows(0, 1)} clear={clear} />;
  return (
    <div className={style["frame"]}>
      <Grid
        label={label}
        total={total}
        columns={columns}
        page={(index) => ({ ...rows(index * pageSize, pageSize, q), ...again })}
        {...(open && { open })}
        {...(onSort && { onSort })}
        {...(rowHeight !== undefined && { rowHeight })}
        sort={sort}
      />
    </div>
  );
}

/** The pages of a list that the server answers whole, because a tenant has few of its rows. */
export function whole<Row>(asked: Asked<readonly Row[]>): ListingProps<Row>["rows"] {
  return (offset, limit) => ({
    queryKey: [...asked.queryKey, offset, limit],
    queryFn: async (context) => {
      const all = await asked.queryFn(context);
      return { content: all.slice(offset, offset + limit), total: all.length };
    },
  });
}

/** Two lines of a row, the second of which says more. */
export function TwoLines({ first, second }: { first: ReactNode; second?: ReactNode }) {
  return (
    <span className={style["two"]}>
      <b className="cut">{first}</b>
      {second !== undefined && second !== "" && <span className="muted cut">{second}</span>}
    </span>
  );
}

/** What stands above a list: its filter, and what makes a new row. */
export function ListBar({ children }: { children: ReactNode }) {
  return <div className={style["bar"]}>{children}</div>;
}

/** A list with what stands above it, where the page does not set them apart itself. */
export function ListParts({ children }: { children: ReactNode }) {
  return <div className={style["parts"]}>{children}</div>;
}
