import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { sets, wizard as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { copyText } from "../ui/copy.tsx";
import { count } from "../ui/format.ts";
import { Facts } from "../ui/page.tsx";
import { Refusal } from "../ui/states.tsx";
import style from "./wizard.module.css";
import { bodyOf, type Draft, failuresThatStop, problemsOf } from "./wizard.state.ts";

/** A name is not needed to count. */
const unnamed = "-";

/** What would happen if it were created now, as the server counts it. */
export function Plan({ draft, isQuery }: { draft: Draft; isQuery: (q: string) => boolean }) {
  const body = useDeferredValue(bodyOf({ ...draft, name: draft.name.trim() || unnamed }));
  const steps = ["who", "how", "when"] as const;
  const ready = draft.set !== "" && steps.every((step) => problemsOf(step, draft, Date.now(), isQuery).length === 0);
  const { data, error } = useQuery({
    ...ask(r.rollouts.preview, { body }),
    enabled: ready,
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });
  if (!ready) return <p className="muted">{t.planEmpty}</p>;
  if (error !== null) return <Refusal error={error} />;
  if (data === undefined) return <p className="muted">{t.planEmpty}</p>;
  const { outsideScope, incompatibleType, noGroup } = data.excluded;
  const left = [
    [t.outsideScope, outsideScope],
    [t.incompatibleType, incompatibleType],
    [t.noGroup, noGroup],
  ] as const;
  const thresholds =
    "groups" in body
      ? body.groups.map(({ errorCondition }) => Number(errorCondition.expression))
      : data.groups.map(() => Number(draft.error));
  return (
    <div className={style["plan"]}>
      <div>
        <p className={`${style["big"]} num`}>{t.matched(data.matched)}</p>
        <HaveIt q={draft.q} set={draft.set} />
      </div>
      <div className={style["bars"]}>
        {data.groups.map((group, index) => (
          <GroupBar key={group.name} {...group} total={data.matched} errorPercent={thresholds[index] ?? 100} />
        ))}
      </div>
      {left.some(([, number]) => number > 0) && (
        <>
          <h3>{t.excluded}</h3>
          <Facts of={left.filter(([, number]) => number > 0).map(([text, number]) => [count(number), text])} />
        </>
      )}
    </div>
  );
}

/** How many of the devices have the set already. */
function HaveIt({ q, set }: { q: string; set: string }) {
  const lacking = useLacking(r.targets.list);
  const query = { q: `(${q});installedds.id==${set}`, limit: 1 };
  const { data } = useQuery({ ...ask(r.targets.list, { query }), enabled: lacking === undefined, staleTime: 15_000 });
  const number = data?.total ?? 0;
  return number > 0 && <p className="muted num">{t.haveIt(number)}</p>;
}

function GroupBar({
  name,
  totalTargets,
  total,
  errorPercent,
}: {
  name: string;
  totalTargets: number;
  total: number;
  errorPercent: number;
}) {
  const stops = failuresThatStop(totalTargets, errorPercent);
  return (
    <div className={style["bar"]}>
      <div>
        <b>{name}</b>
        <span className="num">{count(totalTargets)}</span>
      </div>
      <div className={style["track"]}>
        <span className={style["share"]} style={{ width: `${(100 * totalTargets) / Math.max(1, total)}%` }} />
      </div>
      {totalTargets === 0 ? (
        <span className={style["warn"]}>{t.emptyGroup}</span>
      ) : (
        <span className="muted num">{stops === undefined ? t.never(totalTargets) : t.stopsAt(totalTargets, stops)}</span>
      )}
    </div>
  );
}

/** The plan as the request that creates it, for a ticket or a script. */
export function PlanText({ draft }: { draft: Draft }) {
  const text = JSON.stringify(bodyOf(draft), null, 2);
  return (
    <>
      <Facts
        of={[
          [t.name, draft.name],
          [sets.set, draft.set === "" ? undefined : <SetName key="set" id={draft.set} />],
          [t.filter, <code key="q">{draft.q}</code>],
          [t.template, t.templates[draft.template]],
          [t.type, t.types[draft.type]],
          [t.start, draft.start === "at" ? draft.startAt : t.starts["manual"]],
          [t.windowText, draft.hasWindow ? `${draft.schedule} · ${draft.duration}` : undefined],
        ]}
      />
      <details>
        <summary>{t.asText}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
        <pre className={style["json"]} tabIndex={0}>
          {text}
        </pre>
      </details>
      <div>
        <Button small onClick={() => copyText(text)}>
          {t.copyText}
        </Button>
      </div>
    </>
  );
}

/** A set by its name, and by its id until that is known. */
function SetName({ id }: { id: string }) {
  const { data } = useQuery(ask(r.distributionSets.get, { params: { distributionSetId: id } }));
  return data === undefined ? id : `${data.name} ${data.version}`;
}
