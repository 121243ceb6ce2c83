import { Autocomplete } from "@base-ui/react/autocomplete";
import { useQuery } from "@tanstack/react-query";
import { ListFilter, X } from "lucide-react";
import { type FormEvent, useDeferredValue, useEffect, useState } from "react";
import { ask, r } from "../api/client.ts";
import { filters as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { complete, queryOf, quoted } from "./complete.ts";
import type { QueryField } from "./fields.ts";
import style from "./filter.module.css";
import { problemOfQuery } from "./problem.ts";

interface FilterBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly fields: readonly QueryField[];
  readonly value: string | undefined;
  readonly onApply: (query: string | undefined) => void;
  /** What the number of matches is, in words. */
  readonly matches?: string | undefined;
  /** The field beside `name` that a plain text is looked for in. */
  readonly idField?: string;
  readonly nameField?: string;
}

/** The filter of a list: the query as text, completed while it is written. Enter applies it, and the address of the page holds it. */
export function FilterBox({ label, placeholder, fields, value, onApply, matches, idField, nameField }: FilterBoxProps) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  const typed = useDeferredValue(text);
  const query = queryOf(text, idField, nameField);
  const problem = problemOfQuery(queryOf(typed, idField, nameField));
  const items = useItems(typed, fields);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (problemOfQuery(query) === undefined) onApply(query === "" ? undefined : query);
  };
  const write = (next: string, reason: string) => {
    if (reason !== "item-press") return setText(next);
    const { from, ask: asked } = complete(text, fields);
    const isKey = asked !== undefined && !asked.field.includes(".") && ["attribute", "metadata"].includes(asked.field);
    setText(text.slice(0, from) + (asked !== undefined && !isKey ? quoted(next) : next));
  };
  return (
    <search className={style["filter"]}>
      <form onSubmit={submit}>
        <div className={style["box"]}>
          <ListFilter size={15} aria-hidden />
          <Autocomplete.Root items={items} mode="none" value={text} onValueChange={(next, { reason }) => write(next, reason)}>
            <Autocomplete.Input
              className={style["input"]}
              data-filter=""
              aria-label={label}
              aria-invalid={problem !== undefined || undefined}
              placeholder={placeholder}
              spellCheck={false}
              autoCapitalize="none"
            />
            <Completions />
          </Autocomplete.Root>
          <span className={style["beside"]}>
            <span className="num" role="status">
              {problem === undefined ? matches : undefined}
            </span>
            {text !== "" && (
              <Button look="ghost" small aria-label={t.clear} onClick={() => onApply(setText("") as undefined)}>
                <X size={13} aria-hidden />
              </Button>
            )}
          </span>
        </div>
      </form>
      {problem !== undefined && <div className={style["problem"]}>{problem}</div>}
    </search>
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

/** What is offered: known at once, or suggested by the server. */
function useItems(text: string, fields: readonly QueryField[]): readonly string[] {
  const { items, ask: asked } = complete(text, fields);
  const open = asked !== undefined && asked.prefix.length <= 256;
  const { data } = useQuery({
    ...ask(r.targets.suggest, { query: { field: asked?.field ?? "name", prefix: asked?.prefix ?? "", limit: 20 } }),
    enabled: open,
    staleTime: 30_000,
  });
  return open ? (data?.values ?? []) : items;
}
