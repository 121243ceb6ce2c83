import { Autocomplete } from "@base-ui/react/autocomplete";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { Bookmark, ListFilter, SlidersHorizontal, X } from "lucide-react";
import { type FormEvent, lazy, Suspense, useDeferredValue, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { me } from "../api/session.ts";
import { filterBuilder, filterMenu, filters as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Drop } from "../ui/drop.tsx";
import { complete, completed, queryOf, quoted } from "./complete.ts";
import type { QueryField } from "./fields.ts";
import style from "./filter.module.css";
import type { NamedQuery } from "./filter-menu.tsx";
import { lastFilters, remember } from "./history.ts";
import { type CountOf, useLiveCount } from "./live-count.ts";
import { around, problemIn, type QueryProblem } from "./problem.ts";
import { useItems } from "./values.ts";

const FilterBuilder = lazy(() => import("./filter-builder.tsx").then(({ FilterBuilder: it }) => ({ default: it })));
const FilterMenu = lazy(() => import("./filter-menu.tsx").then(({ FilterMenu: it }) => ({ default: it })));

interface FilterBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly fields: readonly QueryField[];
  readonly value: string | undefined;
  readonly onApply: (query: string | undefined) => void;
  /** What the number of matches is, in words. */
  readonly matches?: string | undefined;
  /** Counts what is being written, before it is applied. */
  readonly countOf?: CountOf;
  /** Filters that the page offers. */
  readonly ready?: readonly NamedQuery[];
  /** Saves the filter of the page. */
  readonly save?: (query: string) => void;
  /** Why it cannot be saved. */
  readonly whyNoSave?: string | undefined;
  /** The field beside `name` that a plain text is looked for in. */
  readonly idField?: string;
  readonly nameField?: string;
}

/** The filter of a list: the query as text, completed and counted while it is written. Enter applies it, and the address of the page holds it. */
export function FilterBox(props: FilterBoxProps) {
  const { value, onApply, matches, idField, nameField } = props;
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const typed = queryOf(useDeferredValue(text), idField, nameField);
  const query = queryOf(text, idField, nameField);
  const wrong = problemIn(typed);
  const isNew = wrong === undefined && typed !== "" && typed !== value;
  const { words, refused } = useLiveCount(isNew ? typed : undefined, props.countOf);
  const problem: QueryProblem | undefined = wrong ?? (refused === undefined ? undefined : { text: refused });
  const about = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (problemIn(query) === undefined) onApply(query === "" ? undefined : query);
  };
  const clear = () => {
    setText("");
    onApply(undefined);
  };
  return (
    <search className={style["filter"]}>
      <div className={style["row"]}>
        <form className={style["box"]} onSubmit={submit}>
          <ListFilter size={15} aria-hidden />
          <Written {...props} text={text} setText={setText} about={problem && about} />
          {/* Enter submits a form that holds one field, or a button for it; the completion brings a field of its own along. */}
          <input type="submit" hidden />
          <span className={style["beside"]}>
            <span className="num" role="status">
              {problem === undefined ? (isNew ? words : matches) : undefined}
            </span>
            {text !== "" && (
              <Button look="ghost" small aria-label={t.clear} onClick={clear}>
                <X size={13} aria-hidden />
              </Button>
            )}
          </span>
        </form>
        <Build {...props} query={query} wrong={problemIn(query) !== undefined} />
        <Menu {...props} />
      </div>
      {problem !== undefined && <Problem id={about} of={problem} query={typed} />}
    </search>
  );
}

interface WrittenProps extends FilterBoxProps {
  readonly text: string;
  readonly setText: (text: string) => void;
  /** The id of what says what is wrong. */
  readonly about: string | undefined;
}

/** The text of the query; what is offered fits at the caret. */
function Written({ label, placeholder, fields, text, setText, about }: WrittenProps) {
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
        className={style["input"]}
        data-filter=""
        aria-label={label}
        aria-invalid={about !== undefined || undefined}
        aria-describedby={about}
        placeholder={placeholder}
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
function Problem({ id, of: { text, at }, query }: { id: string; of: QueryProblem; query: string }) {
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

/** The same filter as conditions in groups. */
function Build({ fields, countOf, onApply, query, wrong }: FilterBoxProps & { query: string; wrong: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button why={wrong ? filterBuilder.mendFirst : undefined} onClick={() => setOpen(true)}>
        <SlidersHorizontal size={14} aria-hidden />
        {filterBuilder.open}
      </Button>
      <Suspense>
        {open && (
          <FilterBuilder
            query={query}
            fields={fields}
            countOf={countOf}
            apply={(built) => onApply(built === "" ? undefined : built)}
            close={() => setOpen(false)}
          />
        )}
      </Suspense>
    </>
  );
}

/** Filters that are there already; what is applied is remembered, wherever it came from. */
function Menu({ value, onApply, ready = [], save, whyNoSave }: FilterBoxProps) {
  const { data: owner } = useQuery(me);
  const page = useLocation({ select: ({ pathname }) => pathname });
  useEffect(() => {
    if (owner !== undefined && value !== undefined) remember({ page, owner }, value);
  }, [page, owner, value]);
  return (
    <Drop
      label={
        <>
          <Bookmark size={14} aria-hidden />
          {filterMenu.open}
        </>
      }
    >
      {(close) => {
        const then = (act: () => void) => () => {
          close();
          act();
        };
        return (
          <Suspense>
            <FilterMenu
              ready={ready}
              last={owner === undefined ? [] : lastFilters({ page, owner })}
              pick={(query) => then(() => onApply(query))()}
              saving={
                save && {
                  why: whyNoSave ?? (value === undefined ? filterMenu.applyFirst : undefined),
                  start: then(() => value !== undefined && save(value)),
                }
              }
            />
          </Suspense>
        );
      }}
    </Drop>
  );
}
