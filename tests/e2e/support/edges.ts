import { runThings } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { actionEventFaults, type EventLog, relayed, rolloutEventFaults } from "./events.ts";
import { faultsOf } from "./invariants.ts";
import { runJob } from "./job.ts";
import { eventsBehind, idsOf, outOfOrder, type WebhookReceiver } from "./receivers.ts";
import { type ResilientAdmin, resilientAdmin } from "./resilient-admin.ts";

const limitMs = 120_000;

/** What reads along while the work of this file is done, and where devices send messages. */
export interface Readers {
  readonly events: EventLog;
  readonly receiver: WebhookReceiver;
  readonly messagesUrl: string;
}

interface Page<T> {
  readonly content: T[];
}

async function make<Body>(api: ResilientAdmin, path: string, body: unknown): Promise<Body> {
  const { answer } = await api.settle<Body>(path, { method: "POST", body });
  if (answer.status > 299) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/**
 * Does once what crosses each edge between services: the main job, and beside it what that leaves out. Answers what is not as it should be, whoever
 * read it: histories, the cursor, Kafka or a webhook.
 */
export async function crossAllEdges(stack: Stack, { events, receiver, messagesUrl }: Readers, devices: number): Promise<unknown[]> {
  const api = resilientAdmin(stack);
  await relayed(stack.adminDatabaseUrl as string);
  const { next: after } = await api.get<{ next: string }>("events?limit=1");
  const [job] = await Promise.all([runJob(stack, { devices }), invalidate(api), eraseTenant(api), updateThings(api, messagesUrl)]);
  const pages = ["targets", "actions", "rollouts", "distributionsets", "softwaremodules", "targetfilters", "users", "audit", "operations"];
  for (const page of pages) await api.get(`${page}?limit=5`);
  await relayed(stack.adminDatabaseUrl as string);
  const told = await eventsBehind(api.get, after);
  const missing = (from: readonly { id: string }[]) => {
    const ids = new Set(idsOf(from));
    return idsOf(told).filter((id) => !ids.has(id));
  };
  await eventually(() => {
    const [kafka, webhook] = [missing(events.seen), missing(receiver.got)];
    if (kafka.length + webhook.length > 0)
      throw new Error(`of ${told.length} events: ${kafka.length} not in Kafka, ${webhook.length} not sent`);
  }, limitMs);
  return [
    ...faultsOf(job),
    ...actionEventFaults(events.kept(), job.actions),
    ...rolloutEventFaults(events.kept(), job.demo.rolloutId),
    ...outOfOrder(told),
    ...outOfOrder(receiver.got),
    ...(told.length > devices ? [] : [`${told.length} events`]),
  ];
}

/** Lets management stop a rollout and its actions: it calls rollout-engine and controller. Then the targets go by one call. */
async function invalidate(api: ResilientAdmin): Promise<void> {
  const name = uniqueName("invalid");
  const bodies = Array.from({ length: 4 }, (_, n) => ({ controllerId: `${name}-${n}` }));
  await make(api, "targets", bodies);
  const [module] = await make<{ id: number }[]>(api, "softwaremodules", [{ name, version: "1.0", type: "os" }]);
  const [set] = await make<{ id: number }[]>(api, "distributionsets", [
    { name, version: "1.0", type: "os", modules: [{ id: module?.id }] },
  ]);
  const body = { name, distributionSetId: set?.id, targetFilterQuery: `controllerid==${name}-*`, amountGroups: 2 };
  const { id } = await make<{ id: number }>(api, "rollouts", body);
  const is = (status: string) =>
    eventually(async () => {
      const found = (await api.get<{ status: string }>(`rollouts/${id}`)).status;
      if (found !== status) throw new Error(`rollout ${id} is ${found} instead of ${status}`);
    }, limitMs);
  await is("ready");
  await make(api, `rollouts/${id}/start`, undefined);
  await is("running");
  await make(api, `distributionsets/${set?.id}/invalidate`, { actionCancelationType: "force" });
  await is("stopped");
  const gone = `targets?q=controllerid==${name}-*&confirm=${bodies.length}`;
  const { answer } = await api.settle(gone, { method: "DELETE" });
  if (answer.status > 299) throw new Error(`DELETE ${gone}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/**
 * Makes a tenant and erases it: management asks every owner of rows how many it has, and then to erase them. The row of the tenant goes last, when no
 * request of the tenant can be under way any more, which takes minutes and is not waited for.
 */
async function eraseTenant(api: ResilientAdmin): Promise<void> {
  const name = uniqueName("tenant");
  await make(api, "system/tenants", [{ name, administrator: { name: "boss" } }]);
  const { answer } = await api.settle<{ id: number }>(`system/tenants/${name}`, { method: "DELETE" });
  if (answer.status > 299) throw new Error(`DELETE of tenant ${name}: ${answer.status}`);
  await eventually(async () => {
    const { done, total } = await api.get<{ done: number; total?: number }>(`operations/${answer.body.id}`);
    if (total === undefined || total === 0 || done < total) throw new Error(`tenant ${name}: ${done} of ${total} rows are erased`);
  }, limitMs);
}

/** Updates two devices that speak DMF. */
async function updateThings(api: ResilientAdmin, url: string): Promise<void> {
  const name = uniqueName("thing");
  const ids = [`${name}-0`, `${name}-1`];
  const things = await runThings({ url, ids, exchange: `${name}.replies`, temporary: true });
  try {
    const [module] = await make<{ id: number }[]>(api, "softwaremodules", [{ name, version: "1.0", type: "os" }]);
    const [set] = await make<{ id: number }[]>(api, "distributionsets", [
      { name, version: "1.0", type: "os", modules: [{ id: module?.id }] },
    ]);
    await eventually(async () => {
      const { content } = await api.get<Page<object>>(`targets?q=controllerid==${name}-*`);
      if (content.length < ids.length) throw new Error(`${content.length} things have registered`);
    }, limitMs);
    await make(
      api,
      `distributionsets/${set?.id}/assignedTargets`,
      ids.map((id) => ({ id })),
    );
    await eventually(async () => {
      for (const id of ids) {
        const { content } = await api.get<Page<{ detailStatus: string }>>(`targets/${id}/actions`);
        if (content[0]?.detailStatus !== "finished") throw new Error(`the action of ${id} is ${content[0]?.detailStatus}`);
      }
    }, limitMs);
  } finally {
    await things.stop();
  }
}
