import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DemoResult, runDemo, runFleet } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName } from "@harrier/testkit";
import { type ResilientAdmin, resilientAdmin } from "./resilient-admin.ts";

export interface JobOptions {
  devices?: number;
  bytes?: number;
  fail?: number;
  seed?: number;
}

/** The state that the main job left behind. */
export interface JobResult {
  /** The counts of the devices beside those of the server. */
  demo: DemoResult;
  /** The actions of the rollout's targets and of those that were given the set one by one. */
  actions: readonly JobAction[];
}

export interface JobAction {
  id: number;
  controllerId: string;
  /** The id of the rollout; absent for a single assignment. */
  rollout?: number;
  /** The first attempt is 1, which is also the default. */
  attempt?: number;
  /** The status of the action itself. */
  status: string;
  /** The action's history, oldest first. */
  history: readonly { id: number; type: string }[];
}

interface Named {
  id: number;
  name: string;
}
interface Page<T> {
  content: T[];
}

const usual = { devices: 40, bytes: 1_000_000, fail: 0.1, seed: 1 };
const limitMs = 150_000;

/**
 * Runs the main job from beginning to end: the demo, and beside it what the demo does not do (a deleted file, a single assignment, a cancellation, a second attempt).
 * All of it continues when any process dies; the state that it finds in the end is the result.
 */
export async function runJob(stack: Stack, options: JobOptions = {}): Promise<JobResult> {
  const { devices, bytes, fail, seed } = { ...usual, ...options };
  const api = resilientAdmin(stack);
  const dir = mkdtempSync(join(tmpdir(), "harrier-job-"));
  const file = join(dir, "firmware.img");
  writeFileSync(file, randomBytes(bytes));
  const settings = { pollSeconds: 0.5, rangePieces: 2, concurrency: 16, fail, seed, timeoutMs: limitMs };
  try {
    const [demo, single] = await Promise.all([
      runDemo({ ...settings, baseUrl: stack.baseUrl, password: stack.adminPassword, devices, file }),
      runSideJob(stack, api),
    ]);
    const { content } = await api.get<Page<{ controllerId: string }>>(`targets?limit=500&q=controllerId==${demo.run}-*`);
    return { demo, actions: await readActions(api, [...content.map(({ controllerId }) => controllerId), ...single]) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Does the work beside the demo and returns the three targets that it used. */
async function runSideJob(stack: Stack, api: ResilientAdmin): Promise<string[]> {
  const name = uniqueName("side");
  const { module } = await makeModule(api, name);
  const set = await makeOne(api, "distributionsets", name, { modules: [{ id: module.id }] });
  await removeFile(api, name);
  const devices = await makeTargets(api, name);
  const [one, other, again] = devices.map(({ controllerId }) => controllerId) as [string, string, string];
  await assign(api, one, set.id);
  await cancel(api, other, await assign(api, other, set.id));
  await failOnce(stack, api, { controllerId: again, token: devices[2]?.token as string }, set.id);
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 0.5, fail: 0 });
  try {
    await eventually(async () => {
      for (const controllerId of [one, other, again]) {
        const { content } = await api.get<Page<{ active: boolean }>>(`targets/${controllerId}/actions`);
        if (content.length !== (controllerId === again ? 2 : 1) || content.some(({ active }) => active))
          throw new Error(`actions of ${controllerId}: ${JSON.stringify(content)}`);
      }
    }, limitMs);
  } finally {
    await fleet.stop();
  }
  return [one, other, again];
}

/** Lets an update fail, and tries it again by hand. Where the answer was lost the attempt may have begun: then it is a conflict. */
async function failOnce(stack: Stack, api: ResilientAdmin, device: { controllerId: string; token: string }, setId: number): Promise<void> {
  const actionId = await assign(api, device.controllerId, setId);
  const path = `targets/${device.controllerId}/actions/${actionId}`;
  const fleet = runFleet({ baseUrl: stack.baseUrl, devices: [device], pollSeconds: 0.5, fail: 1 });
  try {
    await eventually(async () => {
      if ((await api.get<{ active: boolean }>(path)).active) throw new Error(`${path} is open`);
    }, limitMs);
  } finally {
    await fleet.stop();
  }
  const { answer, repeated } = await api.settle(`${path}/retry`, { method: "POST", body: {} });
  if (answer.status !== 201 && !(repeated && answer.status === 409))
    throw new Error(`${path}/retry: ${answer.status} ${JSON.stringify(answer.body)}`);
}

async function makeOne(api: ResilientAdmin, path: string, name: string, fields: object = {}): Promise<Named> {
  const found = async () => {
    const { content } = await api.get<Page<Named>>(`${path}?q=name==${name}`);
    return content.length === 0 ? undefined : content;
  };
  const [made] = await api.create<Named[]>(path, [{ name, version: "1.0", type: "os", ...fields }], found);
  if (made === undefined) throw new Error(`${path}: nothing was made`);
  return made;
}

async function makeModule(api: ResilientAdmin, name: string): Promise<{ module: Named; file: { id: number } }> {
  const module = await makeOne(api, "softwaremodules", name);
  const body = new FormData();
  body.set("file", new Blob([randomBytes(1_000)]), `${name}.img`);
  const files = `softwaremodules/${module.id}/artifacts`;
  const file = await api.create<{ id: number }>(files, body, async () => (await api.get<{ id: number }[]>(files))[0]);
  return { module, file };
}

/** Deletes an unused file: its row is deleted at once, and artifact-store deletes the bytes afterwards. */
async function removeFile(api: ResilientAdmin, name: string): Promise<void> {
  const { module, file } = await makeModule(api, `gone-${name}`);
  const path = `softwaremodules/${module.id}/artifacts/${file.id}`;
  const { answer, repeated } = await api.settle(path, { method: "DELETE" });
  if (answer.status > 299 && !(repeated && answer.status === 404)) throw new Error(`DELETE ${path}: ${answer.status}`);
}

async function makeTargets(api: ResilientAdmin, name: string): Promise<{ controllerId: string; token: string }[]> {
  const targets = [1, 2, 3].map((n) => ({ controllerId: `${name}-${n}`, token: `token-${name}-${n}` }));
  const bodies = targets.map(({ controllerId, token }) => ({ controllerId, securityToken: token }));
  const all = async () => (await api.get<Page<object>>(`targets?q=controllerId==${name}-*`)).content;
  const made = await api.create<object[]>("targets", bodies, all);
  if (made.length !== targets.length) throw new Error(`${made.length} targets of ${targets.length} were made`);
  return targets;
}

/** Assigns a set to a target and returns the action's id. */
async function assign(api: ResilientAdmin, controllerId: string, setId: number): Promise<number> {
  const path = `targets/${controllerId}`;
  const { answer } = await api.settle(`${path}/assignedDS`, { method: "POST", body: [{ id: setId }] });
  if (answer.status > 299) throw new Error(`${path}/assignedDS: ${answer.status} ${JSON.stringify(answer.body)}`);
  const { content } = await api.get<Page<Named>>(`${path}/actions`);
  if (content[0] === undefined) throw new Error(`${controllerId} has no action after its assignment`);
  return content[0].id;
}

async function cancel(api: ResilientAdmin, controllerId: string, actionId: number): Promise<void> {
  const path = `targets/${controllerId}/actions/${actionId}`;
  const { answer, repeated } = await api.settle(path, { method: "DELETE" });
  // A 405 means that an attempt without an answer has cancelled it.
  if (answer.status !== 204 && !(repeated && answer.status === 405)) throw new Error(`DELETE ${path}: ${answer.status}`);
}

/** Reads all actions of these targets with their histories. */
export async function readActions(api: ResilientAdmin, controllerIds: readonly string[]): Promise<JobAction[]> {
  const actions: JobAction[] = [];
  for (const controllerId of controllerIds) {
    const path = `targets/${controllerId}/actions`;
    const { content } = await api.get<Page<{ id: number; rollout?: number; detailStatus: string; safety?: { attempt?: number } }>>(
      `${path}?limit=500`,
    );
    for (const { id, detailStatus: status, rollout, safety } of content) {
      const page = await api.get<Page<{ id: number; type: string }>>(`${path}/${id}/status?limit=500&sort=id:ASC`);
      const history = page.content.map((entry) => ({ id: entry.id, type: entry.type }));
      actions.push({
        id,
        controllerId,
        status,
        history,
        ...(rollout === undefined ? {} : { rollout }),
        ...(safety?.attempt === undefined ? {} : { attempt: safety.attempt }),
      });
    }
  }
  return actions;
}
