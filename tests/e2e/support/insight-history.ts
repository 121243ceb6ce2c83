import type { Stack } from "@harrier/stack";
import { type Admin, type CreatedTarget, send, withClient } from "@harrier/testkit";
import { expect } from "vitest";

interface Action {
  controllerId: string;
  id: number;
  token: string;
}

/** What devices and users have been sent: whole files, and what of a download that got no answer may have been counted. */
export interface Sent {
  bytes: number;
  cut: number;
}
interface History {
  stack: Stack;
  admin: Admin;
  random: () => number;
  sent: Sent;
}

/** How much time a step lets pass by SQL: counting must have begun longer ago than that. */
export const passesBySql = "2 minutes";
const soon = { proof: { require: "alive", withinSeconds: 60, graceSeconds: 0, stable: { polls: 1, minutes: 0 } } };
const claims = { proof: { require: "alive", withinSeconds: 3_600 } };
const oneMoreAttempt = { retry: { max: 1, delaySeconds: 0 } };
const givesUp = { limits: { notFetchedSeconds: 60, installingSeconds: 60, giveUpSeconds: 60 } };

/**
 * The kinds of steps of the history, by name. Each does what it needs first, so that it can be done at any time; it rejects where something of it was
 * refused or got no answer.
 */
export async function kindsOfSteps({ stack, admin, random, sent }: History) {
  const below = (n: number) => Math.floor(random() * n);
  const take = <T>(from: T[]): T | undefined => from.splice(below(from.length), 1)[0];
  const targets: CreatedTarget[] = [];
  const rollouts: number[] = [];
  let actions: Action[] = [];
  let claimed: Action[] = [];
  const made = await Promise.all([100, 2_000, 30_000].map((size) => admin.createSetWithFile("x".repeat(size), "image.bin")));
  const oneOfMade = () => made[below(made.length)] as (typeof made)[number];
  // Rollouts have targets of their own: whoever assigns to the others knows what these have.
  await admin.createTargets(3, "rolled");
  const createRollout = async () => (await admin.createRollout(oneOfMade().set.id, { targetFilterQuery: "controllerId==rolled-*" })).id;
  const readyRollout = async () => (await admin.rolloutIs(take(rollouts) ?? (await createRollout()), "ready")).id;

  const forget = (controllerId: string) => {
    actions = actions.filter((action) => action.controllerId !== controllerId);
    claimed = claimed.filter((action) => action.controllerId !== controllerId);
  };

  /** Assigns a set that the target does not have to it; its older actions are obsolete, and nothing more is done with them. */
  async function assign(fields: object = {}): Promise<Action> {
    if (targets.length === 0) targets.push(await admin.createTarget());
    const { controllerId, securityToken: token } = targets[below(targets.length)] as CreatedTarget;
    const { body: assigned, status } = await admin.call<{ id?: number } | undefined>(`targets/${controllerId}/assignedDS`);
    expect([200, 204]).toContain(status);
    const others = made.filter(({ set }) => set.id !== assigned?.id);
    const { set } = others[below(others.length)] as (typeof made)[number];
    forget(controllerId);
    return { controllerId, id: await admin.assign(controllerId, set.id, fields), token };
  }
  /** Nothing else keeps an action of such a target from its next attempt. */
  async function assignToNew(fields: object = {}): Promise<Action> {
    const { controllerId, securityToken: token } = await admin.createTarget();
    return { controllerId, id: await admin.assign(controllerId, oneOfMade().set.id, fields), token };
  }
  async function report({ controllerId, id, token }: Action, execution: string, finished: string): Promise<void> {
    const answer = await send(`${stack.baseUrl}/DEFAULT/controller/v1/${controllerId}/deploymentBase/${id}/feedback`, {
      method: "POST",
      headers: { authorization: `TargetToken ${token}` },
      body: { status: { execution, result: { finished } } },
    });
    expect(answer.status).toBe(200);
  }
  /** Assigns a set with a proof, and reports the success, which counts until something else turns out. */
  async function claim(safety: object = claims): Promise<Action> {
    const action = await assign({ safety });
    await report(action, "closed", "success");
    return action;
  }
  const sql = (text: string, values: unknown[]) => withClient(stack.adminDatabaseUrl as string, (client) => client.query(text, values));
  /** Lets time pass for the watch of an action. */
  const later = ({ id }: Action) =>
    sql(
      `update controller.action_watches set began_at = began_at - i, since = since - i, claimed_at = claimed_at - i, due_at = due_at - i
         from (select $2::interval as i) x where tenant_id = 1 and action_id = $1`,
      [id, passesBySql],
    );
  const anAction = async () => take(actions) ?? (await assign());

  return {
    "targets are created": async () => {
      targets.push(...(await admin.createTargets(1 + below(4))));
    },
    "a set is assigned": async () => {
      actions.push(await assign());
    },
    "the end of an action is reported": async () => {
      await report(await anAction(), "closed", random() < 0.6 ? "success" : "failure");
    },
    "an update that is only downloaded ends": async () => {
      await report(await assign({ type: "downloadonly" }), "downloaded", "none");
    },
    "a success is claimed": async () => {
      claimed.push(await claim());
    },
    "a person decides about a claim": async () => {
      const { controllerId, id } = take(claimed) ?? (await claim());
      const verdict = random() < 0.5 ? "proven" : "refuted";
      await admin.post(`targets/${controllerId}/actions/${id}/proof`, { verdict, remark: "seen" });
    },
    "a claim is not proven in time": async () => {
      await later(await claim(soon));
    },
    "an action is given up": async () => {
      await later(await assign({ safety: givesUp }));
    },
    "a failure is tried again by itself": async () => {
      await report(await assignToNew({ safety: oneMoreAttempt }), "closed", "failure");
    },
    "a failure is tried again by hand": async () => {
      const action = await assignToNew();
      await report(action, "closed", "failure");
      await admin.post(`targets/${action.controllerId}/actions/${action.id}/retry`);
    },
    "a closed action is deleted": async () => {
      const action = await assign();
      await report(action, "closed", "success");
      expect((await admin.call(`actions/${action.id}`, { method: "DELETE" })).status).toBe(204);
    },
    "a target has not polled for days": async () => {
      const { controllerId } = await admin.createTarget();
      await sql(
        `insert into controller.target_polls (tenant_id, target_id, last_poll_at)
         select tenant_id, id, now() - interval '2 days' from controller.targets where tenant_id = 1 and controller_id = $1`,
        [controllerId],
      );
    },
    "an action is cancelled": async () => {
      const { controllerId, id } = await anAction();
      expect((await admin.cancel(controllerId, id)).status).toBe(204);
      if (random() < 0.7) expect((await admin.cancel(controllerId, id, true)).status).toBe(204);
    },
    "a target is deleted": async () => {
      const { controllerId } = take(targets) ?? (await admin.createTarget());
      forget(controllerId);
      expect((await admin.call(`targets/${controllerId}`, { method: "DELETE" })).status).toBeLessThan(300);
    },
    "a rollout is created": async () => {
      rollouts.push(await createRollout());
    },
    "a rollout is started": async () => {
      await admin.startRollout(await readyRollout());
    },
    "a rollout is deleted": async () => {
      expect((await admin.call(`rollouts/${await readyRollout()}`, { method: "DELETE" })).status).toBeLessThan(300);
    },
    "a file is uploaded": async () => {
      await admin.upload((await admin.createModule()).id, "more.bin", "y".repeat(1 + below(5_000)));
    },
    "a file is deleted": async () => {
      const module = await admin.createModule();
      const artifact = await admin.upload(module.id, "short.bin", "z".repeat(1 + below(5_000)));
      expect((await admin.call(`softwaremodules/${module.id}/artifacts/${artifact.id}`, { method: "DELETE" })).status).toBeLessThan(300);
    },
    "a file is downloaded": async () => {
      const { module, artifact } = oneOfMade();
      sent.cut += artifact.size;
      const { status } = await admin.call(`softwaremodules/${module.id}/artifacts/${artifact.id}/download`);
      sent.cut -= artifact.size;
      expect(status).toBe(200);
      sent.bytes += artifact.size;
    },
  } satisfies Record<string, () => Promise<void>>;
}
