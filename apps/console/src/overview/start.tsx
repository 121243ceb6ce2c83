import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ask, r } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { overview as t } from "../text/en.ts";
import { Card } from "../ui/page.tsx";
import { Mark } from "../ui/status.tsx";
import { askFleet, sizeOf } from "./fleet.tsx";
import style from "./overview.module.css";
import { Simulated } from "./simulated.tsx";
import { type Phase, phaseOf } from "./start.state.ts";

const isAwaited = ({ data, error }: { data: unknown; error: Error | null }) => data === undefined && error === null;

/** What is there already; what cannot be read is no step. Undefined until it is known. */
function useSoftware(wanted: boolean) {
  const refetchInterval = usePollMs(10_000);
  const query = { limit: 1 };
  const maySets = useLacking(r.distributionSets.list) === undefined;
  const mayRollouts = useLacking(r.rollouts.list) === undefined;
  const sets = useQuery({ ...ask(r.distributionSets.list, { query }), enabled: wanted && maySets, refetchInterval });
  const rollouts = useQuery({ ...ask(r.rollouts.list, { query }), enabled: wanted && mayRollouts, refetchInterval });
  if ((maySets && isAwaited(sets)) || (mayRollouts && isAwaited(rollouts))) return undefined;
  return { sets: sets.data?.total ?? 1, rollouts: rollouts.data?.total ?? 1, set: sets.data?.content[0]?.id };
}

interface Started {
  readonly devices: number;
  readonly sets: number;
  readonly rollouts: number;
  /** A set that is there. */
  readonly set?: number | undefined;
}

/** Whether the first steps are still to be done, and which are. Whoever may not read devices has none. */
export function useStart(mayTargets: boolean): { readonly phase: Phase; readonly started: Started } {
  const fleet = useQuery({ ...askFleet, enabled: mayTargets, refetchInterval: usePollMs(10_000) });
  const [status, installed] = fleet.data?.facets ?? [];
  const devices = sizeOf(status);
  const nothingInstalled = fleet.data !== undefined && installed?.values.length === 0;
  const software = useSoftware(nothingInstalled);
  const isUnread = !mayTargets || (fleet.data === undefined && fleet.error !== null);
  const started = software === undefined ? undefined : { devices, ...software };
  const phase = isUnread ? "over" : fleet.data === undefined ? "unknown" : phaseOf({ nothingInstalled, devices, started });
  return { phase, started: started ?? { devices, sets: 0, rollouts: 0 } };
}

const everyDevice = "controllerid==*";

/** The way to the first updated device. It stays until a rollout is there, so that somebody who has done one step sees the next. */
export function Start({ of: { devices, sets, rollouts, set } }: { of: Started }) {
  return (
    <Card title={t.welcome}>
      <p className="muted">{t.welcomeText}</p>
      <ol className={style["start"]}>
        <Step title={t.steps.devices} done={devices > 0}>
          <Simulated />
          <Link to="/devices" search={{}}>
            {t.toDevices}
          </Link>
        </Step>
        <Step title={t.steps.software} done={sets > 0}>
          <p className="muted">{t.softwareText}</p>
          <Link to="/software" search={{ tab: "modules" }}>
            {t.toSoftware}
          </Link>
        </Step>
        <Step title={t.steps.rollout} done={rollouts > 0}>
          <p className="muted">{t.rolloutText}</p>
          <NewRollout with={{ q: everyDevice, ...(sets === 1 && set !== undefined ? { set: String(set) } : {}) }}>
            {t.newRollout}
          </NewRollout>
        </Step>
      </ol>
    </Card>
  );
}

function Step({ title, done, children }: { title: string; done: boolean; children: ReactNode }) {
  return (
    <li>
      <div>
        <b>{title}</b>
        {done ? <Mark tone="ok" sign="✓" word={t.stepDone} /> : children}
      </div>
    </li>
  );
}
