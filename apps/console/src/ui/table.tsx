import type { ReactNode } from "react";
import style from "./table.module.css";

/** The heading of a column: its words, or those that only a screen reader says. */
type Heading = string | { readonly hidden: string };

interface TableProps {
  /** Without them the first cell of each row says what it is about. What is false is left out. */
  readonly columns?: readonly (Heading | false)[];
  readonly label?: string;
  /** The rows. */
  readonly children: ReactNode;
}

/** A table of what is known as a whole; lists that are loaded bit by bit are a `Grid`. */
export function Table({ columns, label, children }: TableProps) {
  const headings = columns?.filter((column) => column !== false);
  return (
    <table className={style["table"]} aria-label={label}>
      {headings !== undefined && (
        <thead>
          <tr>
            {headings.map((heading) =>
              typeof heading === "string" ? (
                <th key={heading}>{heading}</th>
              ) : (
                <th key={heading.hidden}>
                  <span className="hidden">{heading.hidden}</span>
                </th>
              ),
            )}
          </tr>
        </thead>
      )}
      <tbody>{children}</tbody>
    </table>
  );
}
