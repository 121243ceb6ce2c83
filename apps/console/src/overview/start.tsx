import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { ask, change, r, server } from "../api/client.ts";
import { usePollMs } from "../api/live.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { commands, dialogs, states, overview as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { useRun } from "../ui/confirm.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Card } from "../ui/page.tsx";
import { Refusal } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import { askFleet, sizeOf } from "./fleet.tsx";
import style from "./overview.module.css";
import { type Phase, phaseOf, simulateCommand, tokenChanges } from "./start.state.ts";

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

/** A gateway token of 128 bits in hexadecimal digits. */
const newKey = () => crypto.getRandomValues(new Uint8Array(16)).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");
const setting = (name: "enabled" | "key") => ({ key: `authentication.gatewaytoken.${name}` });
const readsToken = { permission: ["READ_GATEWAY_SECURITY_TOKEN"] };

/** The command that runs simulated devices, with a token that they can sign in with: it is shown, and made if there is none, when somebody asks. */
function Simulated() {
  const [command, setCommand] = useState<string>();
  const { data } = useQuery(me);
  const lacking = useLacking(r.configs.get, r.configs.putMany, readsToken);
  const show = async () => {
    const [enabled, key] = await Promise.all([
      change(r.configs.get, { params: setting("enabled") }),
      change(r.configs.get, { params: setting("key") }),
    ]);
    let token = String(key.value);
    const body = tokenChanges({ enabled: enabled.value === true, key: token }, () => {
      token = newKey();
      return token;
    });
    if (Object.keys(body).length > 0) {
      await change(r.configs.putMany, { body });
      await invalidate("configs");
    }
    setCommand(simulateCommand({ server: server.href, tenant: data?.tenant ?? "", token }));
  };
  const runs = useRun(show, () => undefined);
  if (command !== undefined) {
    return (
      <>
        <p className="muted">{t.commandText}</p>
        <div className={style["command"]}>
          <code>{command}</code>
          <CopyButton text={command} label={commands.copy(t.command)} />
        </div>
      </>
    );
  }
  return (
    <>
      <p className="muted">{t.simulatedText}</p>
      <Button look="primary" small why={runs.busy ? dialogs.asked : lacking && states.missing(lacking)} onClick={runs.start}>
        {t.showCommand}
      </Button>
      <Refusal error={runs.error} />
      <Link to="/devices" search={{}}>
        {t.toDevices}
      </Link>
    </>
  );
}
