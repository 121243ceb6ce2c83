import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { Bookmark, ListFilter, X } from "lucide-react";
import { type FormEvent, lazy, Suspense, useDeferredValue, useEffect, useId, useState } from "react";
import { me } from "../api/session.ts";
import { filterMenu, filters as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Drop } from "../ui/drop.tsx";
import { queryOf } from "./complete.ts";
import type { QueryField } from "./fields.ts";
import style from "./filter.module.css";
import type { NamedQuery } from "./filter-menu.tsx";
import { lastFilters, remember } from "./history.ts";
import { type CountOf, useLiveCount } from "./live-count.ts";
import { problemIn, type QueryProblem } from "./problem.ts";
import { Build, Problem, QueryInput } from "./query-input.tsx";

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
  const { label, placeholder, fields, countOf, value, onApply, matches, idField, nameField } = props;
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const typed = queryOf(useDeferredValue(text), idField, nameField);
  const query = queryOf(text, idField, nameField);
  const wrong = problemIn(typed);
  const isNew = wrong === undefined && typed !== "" && typed !== value;
  const { words, refused } = useLiveCount(isNew ? typed : undefined, countOf);
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
          <QueryInput
            className={style["input"]}
            data-filter=""
            aria-label={label}
            placeholder={placeholder}
            fields={fields}
            text={text}
            setText={setText}
            about={problem && about}
            invalid={problem !== undefined}
          />
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
        <Build
          fields={fields}
          countOf={countOf}
          query={query}
          wrong={problemIn(query) !== undefined}
          apply={(built) => onApply(built === "" ? undefined : built)}
        />
        <Menu {...props} />
      </div>
      {problem !== undefined && <Problem id={about} of={problem} query={typed} />}
    </search>
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
