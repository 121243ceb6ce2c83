import { Autocomplete } from "@base-ui/react/autocomplete";
import { SlidersHorizontal } from "lucide-react";
import { type ComponentProps, lazy, Suspense, useLayoutEffect, useRef, useState } from "react";
import { filterBuilder } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { complete, completed, quoted } from "./complete.ts";
import type { QueryField } from "./fields.ts";
import style from "./filter.module.css";
import type { CountOf } from "./live-count.ts";
import { around, type QueryProblem } from "./problem.ts";
import { useItems } from "./values.ts";

const FilterBuilder = lazy(() => import("./filter-builder.tsx").then(({ FilterBuilder: it }) => ({ default: it })));

interface QueryInputProps
  extends Pick<ComponentProps<"input">, "id" | "className" | "aria-label" | "placeholder" | "maxLength" | "autoFocus"> {
  readonly fields: readonly QueryField[];
  readonly text: string;
  readonly setText: (text: string) => void;
  /** The id of what says what it is, or what is wrong. */
  readonly about: string | undefined;
  readonly invalid: boolean;
  /** The key of a page's filter leads here. */
  readonly "data-filter"?: "";
}

/** The text of a query; what is offered fits at the caret. */
export function QueryInput({ fields, text, setText, about, invalid, ...rest }: QueryInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(text.length);
  const moved = useRef<number>(undefined);
  // A text that is put in from outside leaves the caret at its end.
  useLayoutEffect(() => {
    if (moved.current !== undefined && text !== "") input.current?.setSelectionRange(moved.current, moved.current);
    moved.current = undefined;
  }, [text]);
  const head = text.slice(0, caret);
  const items = useItems(head, fields);
  const write = (next: string, reason: string) => {
    if (reason !== "item-press") {
      setCaret(input.current?.selectionStart ?? next.length);
      return setText(next);
    }
    const { from, ask: asked, list } = complete(head, fields);
    const isKey = asked !== undefined && !asked.field.includes(".") && ["attribute", "metadata"].includes(asked.field);
    const done = completed(text, head.length, from, (asked ?? list) !== undefined && !isKey ? quoted(next) : next);
    moved.current = done.caret;
    setCaret(done.caret);
    setText(done.text);
  };
  return (
    <Autocomplete.Root items={items} mode="none" value={text} onValueChange={(next, { reason }) => write(next, reason)}>
      <Autocomplete.Input
        ref={input}
        {...rest}
        aria-invalid={invalid || undefined}
        aria-describedby={about}
        spellCheck={false}
        autoCapitalize="none"
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? currentTarget.value.length)}
      />
      <Completions />
    </Autocomplete.Root>
  );
}

function Completions() {
  return (
    <Autocomplete.Portal>
      <Autocomplete.Positioner sideOffset={6} align="start">
        <Autocomplete.Popup className={style["list"]}>
          <Autocomplete.List>
            {(item: string) => (
              <Autocomplete.Item key={item} value={item} className={style["item"]}>
                {item}
              </Autocomplete.Item>
            )}
          </Autocomplete.List>
        </Autocomplete.Popup>
      </Autocomplete.Positioner>
    </Autocomplete.Portal>
  );
}

/** What is wrong, with its place underlined. */
export function Problem({ id, of: { text, at }, query }: { id: string; of: QueryProblem; query: string }) {
  const [before, there, behind] = around(query, at ?? 0);
  return (
    <div id={id} className={style["problem"]}>
      {at !== undefined && (
        <code aria-hidden>
          {before}
          <u>{there}</u>
          {behind}
        </code>
      )}
      {text}
    </div>
  );
}

interface BuildProps {
  readonly fields: readonly QueryField[];
  readonly countOf?: CountOf | undefined;
  readonly query: string;
  /** The query cannot be read. */
  readonly wrong: boolean;
  readonly apply: (query: string) => void;
}

/** The same query as conditions in groups. */
export function Build({ wrong, ...rest }: BuildProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button why={wrong ? filterBuilder.mendFirst : undefined} onClick={() => setOpen(true)}>
        <SlidersHorizontal size={14} aria-hidden />
        {filterBuilder.open}
      </Button>
      <Suspense>{open && <FilterBuilder {...rest} countOf={rest.countOf} close={() => setOpen(false)} />}</Suspense>
    </>
  );
}
