import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { ask, problemOf, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { toggled } from "../fiql/complete.ts";
import { filters, statusWords, devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { count } from "../ui/format.ts";
import style from "./devices.module.css";
import { conditionOf } from "./devices.state.ts";

const top = 5;

/** How many devices have what, each a filter at one press. The numbers are those of the whole fleet. */
export function Facets({ q, onApply }: { q: string | undefined; onApply: (query: string | undefined) => void }) {
  const { data, error } = useQuery({
    ...ask(r.targets.summary, { query: { by: "updatestatus,overdue,targettype,tag,installedds", top } }),
    refetchInterval: usePollMs(30_000),
    placeholderData: keepPreviousData,
  });
  // The list below says what failed at length.
  if (data === undefined) return <OneLine>{error !== null && <p className="muted">{t.noFacets(problemOf(error).text)}</p>}</OneLine>;
  return (
    <OneLine>
      {data.facets.map((facet) => (
        <Facet
          key={facet.by}
          by={facet.by}
          values={facet.by === "overdue" ? facet.values.filter(({ value }) => value === "true") : facet.values}
          other={facet.other}
          q={q}
          onApply={onApply}
        />
      ))}
    </OneLine>
  );
}

/** What is higher than this has more than one line, in pixels. */
const oneLine = 40;

/** Takes one line whatever is in it, also before it is known, so that the rows below stay where they are; what needs more lines is unfolded. */
function OneLine({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [unfolded, setUnfolded] = useState(false);
  const [isLong, setIsLong] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setIsLong(element.scrollHeight > oneLine);
    measure();
    void document.fonts.ready.then(measure);
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  });
  return (
    <div className={style["facets"]}>
      {/* The focus or a search of the browser that leads to what is folded scrolls to it. */}
      <div ref={box} className={style["line"]} data-unfolded={unfolded} onScroll={() => setUnfolded(true)}>
        {children}
      </div>
      {isLong && (
        <Button small look="ghost" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
          {unfolded ? t.fewerFacets : t.allFacets}
        </Button>
      )}
    </div>
  );
}

interface FacetProps {
  readonly by: string;
  readonly values: readonly { readonly value: string; readonly label?: string | undefined; readonly count: number }[];
  readonly other: number;
  readonly q: string | undefined;
  readonly onApply: (query: string | undefined) => void;
}

function Facet({ by, values, other, q, onApply }: FacetProps) {
  if (values.length === 0 || (values.length === 1 && by === "targettype" && other === 0)) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is drawn with a border and a legend
    <div className={style["facet"]} role="group" aria-label={t.facets[by] ?? by}>
      {by !== "overdue" && <span>{t.facets[by] ?? by}</span>}
      {values.map(({ value, label, count: number }) => {
        const condition = conditionOf(by, value);
        if (condition === undefined) return null;
        const word = by === "overdue" ? t.overdueFacet : by === "updatestatus" ? (statusWords.target[value] ?? value) : (label ?? value);
        const on = (q ?? "").split(";").includes(condition);
        return (
          <button key={value} type="button" className={style["chip"]} aria-pressed={on} onClick={() => onApply(toggled(q, condition))}>
            <b className="cut" style={{ fontWeight: 500 }}>
              {word}
            </b>
            <span className="num">{count(number)}</span>
          </button>
        );
      })}
      {other > 0 && <span className="num">{filters.more(other)}</span>}
    </div>
  );
}
