import { useQuery } from "@tanstack/react-query";
import { ask, problemOf, r } from "../api/client.ts";
import { filterMenu as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import style from "./filter.module.css";

/** A query under a name. */
export interface NamedQuery {
  readonly name?: string;
  readonly query: string;
}

export interface FilterMenuProps {
  /** Filters that the console brings along. */
  readonly ready: readonly NamedQuery[];
  readonly last: readonly string[];
  readonly pick: (query: string) => void;
  /** Filters of this list can be saved; those that are saved are offered. */
  readonly saving?: { readonly why: string | undefined; readonly start: () => void } | undefined;
}

/** Filters that are there already: ready-made, saved, and those that were applied last. */
export function FilterMenu({ ready, last, pick, saving }: FilterMenuProps) {
  const isEmpty = ready.length === 0 && last.length === 0 && saving === undefined;
  return (
    <>
      {isEmpty && <p className="muted">{t.none}</p>}
      <Queries title={t.ready} of={ready} pick={pick} />
      {saving !== undefined && <Saved pick={pick} />}
      <Queries title={t.last} of={last.map((query) => ({ query }))} pick={pick} />
      {saving !== undefined && (
        <Button small why={saving.why} onClick={saving.start}>
          {t.save}
        </Button>
      )}
    </>
  );
}

const offered = { query: { limit: 20, sort: "name:ASC" } } as const;

function Saved({ pick }: Pick<FilterMenuProps, "pick">) {
  const { data, error } = useQuery(ask(r.targetFilters.list, offered));
  if (data === undefined) return error === null ? null : <p className="muted">{t.notRead(problemOf(error).text)}</p>;
  return <Queries title={t.saved} of={data.content} pick={pick} />;
}

function Queries({ title, of, pick }: { title: string; of: readonly NamedQuery[] } & Pick<FilterMenuProps, "pick">) {
  if (of.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is drawn with a border and a legend
    <div className={style["group"]} role="group" aria-label={title}>
      <span className="muted">{title}</span>
      {of.map(({ name, query }) => (
        <button key={`${name} ${query}`} type="button" className={style["choice"]} onClick={() => pick(query)}>
          {name !== undefined && <b>{name}</b>}
          <code className="cut">{query}</code>
        </button>
      ))}
    </div>
  );
}
