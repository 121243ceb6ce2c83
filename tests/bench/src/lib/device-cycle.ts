import { Pool } from "undici";
import type { LoadRequest } from "./load.ts";
import { type SeededSet, targetTokenHeader } from "./seed.ts";

const concurrency = 32;

/** The requests of an update that devices make one after the other. */
export type CycleRequest = "poll" | "deployment" | "report" | "last report";

/** Makes one request of a device's update. */
export function cycleRequest(kind: CycleRequest, id: string, actionId: number): LoadRequest {
  const base = `/DEFAULT/controller/v1/${id}`;
  const headers = { accept: "application/hal+json", authorization: targetTokenHeader(id) };
  if (kind === "poll") return { path: base, headers };
  const action = `${base}/deploymentBase/${actionId}`;
  if (kind === "deployment") return { path: action, headers };
  const status =
    kind === "report" ? { execution: "download", result: { finished: "none" } } : { execution: "closed", result: { finished: "success" } };
  return {
    method: "POST",
    path: `${action}/feedback`,
    headers: { authorization: targetTokenHeader(id), "content-type": "application/json" },
    body: JSON.stringify({ status }),
  };
}

/** The devices of one server with the actions that they shall carry out. */
export interface CyclingFleet {
  readonly url: string;
  readonly ids: readonly string[];
  readonly actions: ReadonlyMap<string, number>;
  readonly set: SeededSet;
  /** False leaves the download out. */
  readonly downloads?: boolean;
  /** True leaves the second of the three reports out. */
  readonly once?: boolean;
}

/** Every device of the fleet polls, reads its deployment, reports twice, downloads and reports the end; any answer but 200 ends the run. */
export async function runCycles(fleet: CyclingFleet): Promise<void> {
  const pool = new Pool(fleet.url, { connections: concurrency });
  let place = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const id = fleet.ids[place++];
      if (id === undefined) return;
      await cycle(pool, id, fleet);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
}

async function cycle(pool: Pool, id: string, { actions, set, downloads = true, once = false }: CyclingFleet): Promise<void> {
  const base = `/DEFAULT/controller/v1/${id}`;
  const action = `${base}/deploymentBase/${actions.get(id)}`;
  const headers = { authorization: targetTokenHeader(id) };
  const ask = async (path: string, report?: { execution: string; finished: string }): Promise<void> => {
    const answer = await pool.request({
      path,
      method: report ? "POST" : "GET",
      headers: { ...headers, ...(report ? { "content-type": "application/json" } : {}) },
      ...(report ? { body: JSON.stringify({ status: { execution: report.execution, result: { finished: report.finished } } }) } : {}),
    });
    await answer.body.dump({ limit: 2 ** 27 });
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  };
  await ask(base);
  await ask(action);
  await ask(`${action}/feedback`, { execution: "download", finished: "none" });
  if (downloads) await ask(`${base}/softwaremodules/${set.moduleId}/artifacts/${set.filename}`);
  if (!once) await ask(`${action}/feedback`, { execution: "downloaded", finished: "none" });
  await ask(`${action}/feedback`, { execution: "closed", finished: "success" });
}
