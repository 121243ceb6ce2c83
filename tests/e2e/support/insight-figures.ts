import { type CurrentRollouts, type CurrentTargets, type SetCounts, updateStatusNames, type VersionInsights } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, withClient } from "@harrier/testkit";
import { expect } from "vitest";

/** Reads what insights say, and counts the same by hand. */
export function figuresOf(stack: Stack, admin: Admin) {
  const thisMonth = async (path: string): Promise<Figure> => {
    const { content } = await admin.get<{ content: (Figure & { month: string; coverage: string })[] }>(`insights/${path}`);
    const { month: _month, coverage, ...figure } = content.at(-1) ?? { month: "", coverage: "" };
    expect(coverage).toBe("full");
    return figure;
  };
  /** Sets with the same number of targets come in any order. */
  const byId = (sets: readonly { id: number; count: number }[]) => sets.map(({ id, count }) => ({ id, count })).sort((a, b) => a.id - b.id);
  const versions = async (by: string) => {
    const { content } = await admin.get<VersionInsights>(`insights/versions?top=100&by=${by}`);
    const { counts = [], total } = content.at(-1) ?? {};
    return { total, counts: byId(counts) };
  };

  /** Reads everything that insights say of now, and of this month. */
  async function told() {
    const targets = await admin.get<CurrentTargets>("insights/targets/current");
    const rollouts = await admin.get<CurrentRollouts>("insights/rollouts/current");
    const top = async (which: string) => byId(await admin.get<SetCounts>(`insights/distributionsets/top-${which}?top=500`));
    return {
      storage: (await thisMonth("artifact-storage")).bytes,
      targets: { total: targets.total, overdue: targets.overdue, ...targets.perUpdateStatus },
      targetsOfMonth: (await thisMonth("targets/monthly")).count,
      rollouts: Object.fromEntries(Object.entries(rollouts.perStatus).filter(([, n]) => n > 0)),
      rolloutsOfMonth: (await thisMonth("rollouts/monthly")).count,
      actionsOfMonth: await thisMonth("actions/monthly"),
      installed: await top("installed"),
      assigned: await top("assigned"),
      installedToday: await versions("installedds"),
      assignedToday: await versions("assignedds"),
    };
  }

  /** Counts the same, one by one, from the rows that there are and the events that there were. */
  async function counted(): Promise<Awaited<ReturnType<typeof told>>> {
    return withClient(stack.adminDatabaseUrl as string, async (client) => {
      const rows = async <Row extends object>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
      const targets = await rows<{ status: number; installed: number | null; assigned: number | null; overdue: boolean }>(
        `select s.update_status::int as status, s.installed_set_id::int as installed, s.assigned_set_id::int as assigned,
                coalesce(p.last_poll_at < now() - interval '1 day', false) as overdue
           from controller.targets t join controller.target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id
           left join controller.target_polls p on p.tenant_id = t.tenant_id and p.target_id = t.id
          where t.tenant_id = 1`,
      );
      const events = await rows<{ type: string; items: unknown[][] }>(
        "select type, items from controller.outbox where tenant_id = 1 and type like 'io.update.action.%' order by txid, id",
      );
      const setsOf = (which: "installed" | "assigned") => {
        const found = new Map<number, number>();
        for (const { [which]: id } of targets) if (id !== null) found.set(id, (found.get(id) ?? 0) + 1);
        return byId([...found].map(([id, count]) => ({ id, count })));
      };
      const today = (counts: { id: number; count: number }[]) => ({ counts, total: counts.reduce((sum, { count }) => sum + count, 0) });
      const rollouts: Record<string, number> = {};
      for (const { status } of await rows<{ status: string }>(
        "select status from rollout_engine.rollouts where tenant_id = 1 and not deleted",
      )) {
        rollouts[status] = (rollouts[status] ?? 0) + 1;
      }
      const [created] = await rows<{ n: number }>(
        "select count(*)::int as n from rollout_engine.outbox where tenant_id = 1 and type = 'io.update.rollout.created.v1'",
      );
      const [stored] = await rows<{ n: number }>("select coalesce(sum(size), 0)::int as n from management.artifacts where tenant_id = 1");
      return {
        storage: stored?.n,
        targets: stateOf(targets),
        targetsOfMonth: targets.length,
        rollouts,
        rolloutsOfMonth: created?.n,
        actionsOfMonth: actionsIn(events),
        installed: setsOf("installed"),
        assigned: setsOf("assigned"),
        installedToday: today(setsOf("installed")),
        assignedToday: today(setsOf("assigned")),
      };
    });
  }

  return { told, counted, traffic: async () => (await thisMonth("data-traffic")).bytes ?? Number.NaN };
}

/** Counts targets by their state. */
function stateOf(
  targets: readonly { status: number; overdue: boolean }[],
): Omit<CurrentTargets, "countedAt" | "perUpdateStatus"> & CurrentTargets["perUpdateStatus"] {
  const withStatus = (n: number) => targets.filter(({ status }) => status === n).length;
  const perUpdateStatus = Object.fromEntries(
    updateStatusNames.map((name, n) => [name, withStatus(n)]),
  ) as CurrentTargets["perUpdateStatus"];
  return { total: targets.length, overdue: targets.filter(({ overdue }) => overdue).length, ...perUpdateStatus };
}

interface Figure {
  bytes?: number;
  count?: number;
  perStatus?: Record<string, number>;
}

const typeDownloadonly = 3;

/** Counts actions from their events, one by one: each ends once, as it has ended last. */
function actionsIn(events: readonly { type: string; items: unknown[][] }[]) {
  const last = new Map<unknown, string>();
  let count = 0;
  for (const { type, items } of events) {
    if (type === "io.update.action.created.v1") count += items.length;
    for (const [id, , , , status, , force] of items) {
      if (status === 0 || (status === 10 && force === typeDownloadonly)) last.set(id, "finished");
      else if (status === 1) last.set(id, "error");
      else if (status === 4) last.set(id, "canceled");
    }
  }
  const perStatus: Record<string, number> = { finished: 0, error: 0, canceled: 0 };
  for (const end of last.values()) perStatus[end] = (perStatus[end] ?? 0) + 1;
  return { count, perStatus };
}
