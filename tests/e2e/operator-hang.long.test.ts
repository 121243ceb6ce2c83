import type { Stack } from "@harrier/stack";
import { eventually } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, type Requested } from "./hostile/support/bystander.ts";
import { adminOf, allowTargetTokens, replicaOf } from "./support/replicas.ts";
import { serving, startAnsweringStack } from "./support/serving.ts";
import { askSteadily, type Outcomes, outcomesOf } from "./support/steady.ts";

// A service hangs: clients that need it get an error that asks them to retry, others notice nothing, and all is well when it recovers.

const known = 300;
const hangMs = 15_000;
/** Requests continue beyond the hang: those that are under way when it ends must not suffer from those that were given up before. */
const askedForMs = 18_000;
/** Most are given up after the five seconds that a device's request has, and then reach controller all at once. */
const unknown = 2_400;
const recoveryMs = 10_000;
let stack: Stack;
let devices: Requested[];

beforeAll(async () => {
  stack = await startAnsweringStack();
  await allowTargetTokens(stack);
  const targets = await adminOf(stack).createTargets(known + unknown);
  devices = targets.map(({ controllerId, securityToken }) => ({
    path: `/DEFAULT/controller/v1/${controllerId}`,
    headers: { authorization: `TargetToken ${securityToken}` },
  }));
  for (const device of devices.slice(0, known)) expect(await request(device)).toBe("200");
});
afterAll(async () => {
  if (stack !== undefined) resume();
  await stack?.stop();
});

const reportOf = ({ path, headers }: Requested): Requested => ({
  method: "PUT",
  path: `${path}/configData`,
  headers,
  body: { data: { a: "b" } },
});
const controller = () => replicaOf(stack, "controller").pid() as number;
const resume = () => process.kill(controller(), "SIGCONT");
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the status, or why there was none. Each request has a connection of its own, as those of devices do. */
const request = (requested: Requested): Promise<string> => ask(Number(new URL(stack.baseUrl).port), requested);

/** Sends each of them once, at a steady pace over `ms`. */
async function spread(requests: readonly Requested[], ms: number): Promise<Outcomes> {
  const outcomes: Record<string, number> = {};
  await Promise.all(
    requests.map(async (requested, n) => {
      await sleep((n * ms) / requests.length);
      const status = await request(requested);
      outcomes[status] = (outcomes[status] ?? 0) + 1;
    }),
  );
  return outcomes;
}

test("controller hangs under 2,400 sign-ins and reports: 503 and never 500, and recovery within seconds", async () => {
  const api = adminOf(stack);
  const module = await api.createModule();
  const others = askSteadily({
    sets: () => api.call("distributionsets?limit=5"),
    modules: () => api.call("softwaremodules?limit=5"),
    rollouts: () => api.call("rollouts?limit=5"),
    change: () => api.call(`softwaremodules/${module.id}`, { method: "PUT", body: { description: "changed" } }),
  });
  const needing = askSteadily({
    create: () => api.call("targets", { method: "POST", body: [{ controllerId: `hang-${Date.now()}`, name: "hang" }] }),
    assign: () => api.call(`targets/${devices[0]?.path.split("/").at(-1)}/autoConfirm`),
  });
  await sleep(1_000);
  process.kill(controller(), "SIGSTOP");
  const [signIns, reports] = await Promise.all([
    spread(devices.slice(known), askedForMs),
    spread(devices.slice(0, known).map(reportOf), askedForMs),
    sleep(hangMs).then(resume),
  ]);
  const told = { signIns, reports, others: others.take(), needing: needing.take() };
  console.log(JSON.stringify(told));
  expect(Object.keys(signIns).filter((status) => status !== "200" && status !== "503" && status !== "504")).toEqual([]);
  expect(Object.keys(reports).filter((status) => status !== "200" && status !== "503" && status !== "504")).toEqual([]);
  expect(outcomesOf(told.others)).toEqual(["200"]);
  expect(outcomesOf(told.needing).filter((outcome) => !["200", "201", "409", "503", "504"].includes(outcome))).toEqual([]);
  await serving(stack.services, recoveryMs);
  await eventually(async () => {
    expect(await spread(devices.slice(0, 100), 500)).toEqual({ "200": 100 });
  }, recoveryMs);
  others.take();
  needing.take();
  await sleep(2_000);
  expect(outcomesOf(others.take())).toEqual(["200"]);
  expect(outcomesOf(needing.take()).filter((outcome) => Number(outcome) >= 500)).toEqual([]);
  await Promise.all([others.stop(), needing.stop()]);
});
