import type { TargetFacet } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { conditionOf } from "../devices/devices.state.ts";
import { statusWords, overview as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import { Card } from "../ui/page.tsx";
import { targetSigns } from "../ui/signs.ts";
import { Failure, Skeleton } from "../ui/states.tsx";
import style from "./overview.module.css";

/** So many installed sets are named; the others are one line. */
const named = 8;

/** The query of the fleet in numbers. */
export const askFleet = ask(r.targets.summary, { query: { by: "updatestatus,installedds", top: named } });

/** How many devices a facet counts. */
export const sizeOf = (facet: TargetFacet | undefined): number => (facet?.values ?? []).reduce((all, { count: number }) => all + number, 0);

/** The fleet by status and by installed set; each number leads to its devices. */
export function Fleet() {
  const { data, error, refetch } = useQuery({ ...askFleet, refetchInterval: usePollMs(10_000) });
  if (data === undefined) return error === null ? <Skeleton lines={6} /> : <Failure error={error} retry={() => void refetch()} />;
  const [status, installed] = data.facets;
  const total = sizeOf(status);
  const versions = (installed?.values ?? []).map(({ value, label, count: number }) => ({
    by: "installedds",
    value,
    word: (label ?? value).replace(":", " "),
    number,
  }));
  const rest = [
    { word: t.others, number: installed?.other ?? 0 },
    { word: t.noVersion, number: installed?.without ?? 0 },
  ];
  if (total === 0) return null;
  return <Numbers total={total} status={status} versions={versions} rest={rest} />;
}

interface NumbersProps {
  readonly total: number;
  readonly status: TargetFacet | undefined;
  readonly versions: readonly { readonly by: string; readonly value: string; readonly word: string; readonly number: number }[];
  readonly rest: readonly { readonly word: string; readonly number: number }[];
}

function Numbers({ total, status, versions, rest }: NumbersProps) {
  return (
    <Card title={t.fleet}>
      <Link to="/devices" search={{}} className={style["row"]}>
        <span className={`${style["big"]} num`}>{t.devices(total)}</span>
      </Link>
      <div className={style["facet"]}>
        <h3>{t.status}</h3>
        {status?.values.map(({ value, count: number }) => (
          <Line
            key={value}
            by="updatestatus"
            value={value}
            word={statusWords.target[value] ?? value}
            number={number}
            total={total}
            tone={targetSigns[value]?.tone}
          />
        ))}
      </div>
      <div className={style["facet"]}>
        <h3>{t.versions}</h3>
        {versions.map((line) => (
          <Line key={line.value} {...line} total={total} tone="run" />
        ))}
        {rest
          .filter(({ number }) => number > 0)
          .map(({ word, number }) => (
            <Line key={word} word={word} number={number} total={total} tone="wait" />
          ))}
      </div>
    </Card>
  );
}

interface LineProps {
  readonly by?: string;
  readonly value?: string;
  readonly word: string;
  readonly number: number;
  readonly total: number;
  readonly tone?: string | undefined;
}

function Line({ by, value, word, number, total, tone }: LineProps) {
  const body = (
    <>
      <span className="cut">{word}</span>
      <span className="num">{count(number)}</span>
      <span className={style["track"]}>
        <span className={style["share"]} data-tone={tone} style={{ width: `${(100 * number) / Math.max(1, total)}%` }} />
      </span>
    </>
  );
  if (by === undefined || value === undefined) return <div className={style["row"]}>{body}</div>;
  return (
    <Link to="/devices" search={{ q: conditionOf(by, value) }} className={style["row"]}>
      {body}
    </Link>
  );
}
