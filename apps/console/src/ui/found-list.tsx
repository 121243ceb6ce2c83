import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { byName } from "../filters/filters.state.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { ListBar, Listing, type ListingProps } from "./listing.tsx";

/** The rows that a list asks for: so many, after so many others, of those whose name contains `q`, in this order. */
interface Wanted {
  readonly offset: number;
  readonly limit: number;
  readonly q?: string | undefined;
  readonly sort?: string | undefined;
}

/** The query of a list of the server for these rows; without an order they are sorted by name. */
export const byNameQuery = ({ q, sort = "name:ASC", ...page }: Wanted) => ({ ...page, q: byName(q), sort });

interface FoundListProps<Row> extends Omit<ListingProps<Row>, "rows" | "q" | "clear" | "sort" | "onSort"> {
  /** The name of the field that finds rows by their name. */
  readonly find: string;
  /** The button that begins a new row; `why` says why it cannot be pressed. */
  readonly add: { readonly label: string; readonly onClick: () => void; readonly why?: string | undefined };
  readonly rows: (wanted: Wanted) => ReturnType<ListingProps<Row>["rows"]>;
  /** Whether the rows can be sorted; they can if absent. */
  readonly sortable?: boolean;
}

/** A list in which rows are found by name and made. The address of the page holds what is looked for, and the order. */
export function FoundList<Row>({ find, add, rows, sortable = true, ...list }: FoundListProps<Row>) {
  const { q, sort } = useSearch({ strict: false });
  const navigate = useNavigate();
  const seek = (text: string) =>
    void navigate({ to: ".", search: (old) => ({ ...old, q: text === "" ? undefined : text }), replace: true });
  const onSort = (next: string | undefined) => void navigate({ to: ".", search: (old) => ({ ...old, sort: next }) });
  return (
    <>
      <ListBar>
        <Field label={find} hideLabel placeholder={find} value={q ?? ""} onChange={seek} data-filter="" />
        <Button look="primary" why={add.why} onClick={add.onClick}>
          <Plus size={14} aria-hidden />
          {add.label}
        </Button>
      </ListBar>
      <Listing
        {...list}
        rows={(offset, limit, sought) => rows({ offset, limit, q: sought, sort })}
        {...(sortable && { sort, onSort })}
        q={q}
        clear={q === undefined ? undefined : () => seek("")}
      />
    </>
  );
}
