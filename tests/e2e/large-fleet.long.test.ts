import type { Stack } from "@harrier/stack";
import { type Admin, eventually, uniqueName, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { growthDuring } from "./support/memory.ts";
import { adminOf, allowTargetTokens, replicaOf, replicasOf } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The test imports 100,000 targets as CSV, exports them, and deletes them by one call (contract extensions.md). Figures are printed; the limits are
// far from them.

const many = 100_000;
const MB = 1_048_576;
/** A file of 100,000 lines is some 10 MB, and as objects ten times that: a service that held it all would exceed this. */
const maxGrowth = 96 * MB;
/** The answers of others while a fleet is deleted: a request that waited for all of it would take much longer. */
const maxWaitMs = 10_000;
const header = "controllerId,name,description,address,securityToken";
const prefix = uniqueName("csv");
const deaths: string[] = [];
let stack: Stack;
let admin: Admin;

beforeAll(async () => {
  const print = (line: string) => {
    const name = /^\[(.+)\] ended \(SIGKILL\)/.exec(line)?.[1];
    if (name !== undefined) deaths.push(name);
  };
  stack = await startAnsweringStack({ replicas: { gateway: 1, controller: 2, management: 1 }, print });
  admin = adminOf(stack);
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

const idOf = (of: string, n: number) => `${of}-${String(n).padStart(6, "0")}`;
/** Builds a line with everything that CSV quotes; ids ascend, as in an export. */
function lineOf(of: string, n: number): string {
  const name = n % 10 === 0 ? `"a ""quoted"", name ${n}"` : `name ${n}`;
  return `${idOf(of, n)},${name},${n % 3 === 0 ? "" : `description of ${n}`},http://10.0.0.1:${n % 60_000},token-${of}-${n}`;
}
const expectedLines = (of: string, count: number) => Array.from({ length: count }, (_, n) => lineOf(of, n));

/** Sends the lines as a client that streams a file without holding it all. */
async function importLines(of: string, count: number): Promise<void> {
  const encoder = new TextEncoder();
  let n = -1;
  const body = new ReadableStream({
    pull(controller) {
      const piece: string[] = n < 0 ? [header] : [];
      for (n = Math.max(n, 0); piece.length < 1_000 && n < count; n += 1) piece.push(lineOf(of, n));
      if (piece.length === 0) controller.close();
      else controller.enqueue(encoder.encode(`${piece.join("\r\n")}\r\n`));
    },
  });
  const answer = await admin.call("targets.csv", { method: "POST", headers: { "content-type": "text/csv" }, body });
  expect(answer).toMatchObject({ status: 200, body: { created: count, failed: 0, errors: [] } });
}

async function exportLines(of: string): Promise<string[]> {
  const { status, body } = await admin.call<string>(`targets.csv?q=${encodeURIComponent(`controllerid==${of}-*`)}`);
  expect(status).toBe(200);
  return body.split("\r\n").slice(1, -1);
}

const total = async (of: string) => (await admin.get<{ total: number }>(`targets?limit=1&q=controllerid==${of}-*`)).total;

test("100,000 targets are imported as CSV and exported unchanged, and no service holds them all", { timeout: 900_000 }, async () => {
  const warm = uniqueName("warm");
  await importLines(warm, 2_000);
  await exportLines(warm);
  const management = replicaOf(stack, "management");
  const began = Date.now();
  const coming = await growthDuring(management, () => importLines(prefix, many));
  const came = Date.now();
  let lines: string[] = [];
  const going = await growthDuring(management, async () => {
    lines = await exportLines(prefix);
  });
  const went = Date.now();
  console.log(
    `in: ${came - began} ms, management grew by ${Math.round(coming / MB)} MB; out: ${went - came} ms, by ${Math.round(going / MB)} MB`,
  );
  expect(lines).toHaveLength(many);
  expect(expectedLines(prefix, many).filter((line, n) => !lines[n]?.startsWith(`${line},`))).toEqual([]);
  expect(coming).toBeLessThan(maxGrowth);
  expect(going).toBeLessThan(maxGrowth);
});

/** Measures the longest wait of each kind of request, one after the other until it is told to end. */
async function othersMeanwhile(until: () => boolean): Promise<Record<string, { requests: number; slowestMs: number }>> {
  const mine = await admin.createTarget();
  const poll = async () => {
    const { status } = await fetch(`${stack.baseUrl}/DEFAULT/controller/v1/${mine.controllerId}`, {
      headers: { authorization: `TargetToken ${mine.securityToken}` },
    });
    expect(status).toBe(200);
  };
  const works: Record<string, () => Promise<unknown>> = {
    poll,
    list: () => admin.get("targets?limit=50&sort=name:ASC"),
    change: () => admin.call(`targets/${mine.controllerId}`, { method: "PUT", body: { description: uniqueName("d") } }),
    create: () => admin.createTarget(),
  };
  const measured = await Promise.all(
    Object.entries(works).map(async ([kind, work]) => {
      let [requests, slowestMs] = [0, 0];
      while (!until()) {
        const began = Date.now();
        await work();
        slowestMs = Math.max(slowestMs, Date.now() - began);
        requests += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return [kind, { requests, slowestMs }] as const;
    }),
  );
  return Object.fromEntries(measured);
}

interface Operation {
  id: number;
  status: string;
  done: number;
  total: number;
}
const removeAll = (of: string, count: number) =>
  admin.call<Operation>(`targets?q=controllerid==${of}-*&confirm=${count}`, { method: "DELETE" });
const operation = (id: number) => admin.get<Operation>(`operations/${id}`);

test("100,000 targets are deleted by one call while other requests are answered", { timeout: 900_000 }, async () => {
  const kept = uniqueName("kept");
  await importLines(kept, 1_000);
  const began = Date.now();
  const { status, body } = await removeAll(prefix, many);
  const answered = Date.now() - began;
  expect(status).toBe(202);
  expect(body).toMatchObject({ total: many });
  let ended = false;
  const seen: number[] = [];
  const others = othersMeanwhile(() => ended);
  await eventually(
    async () => {
      const { status: now, done } = await operation(body.id);
      seen.push(done);
      expect(now).toBe("finished");
    },
    600_000,
    500,
  ).finally(() => {
    ended = true;
  });
  const slowest = await others;
  console.log(`deletion of ${many}: answered in ${answered} ms, done in ${Date.now() - began} ms; meanwhile ${JSON.stringify(slowest)}`);
  expect(await total(prefix)).toBe(0);
  expect(await total(kept)).toBe(1_000);
  expect(await operation(body.id)).toMatchObject({ done: many, total: many });
  // The progress could be seen meanwhile.
  expect(seen.filter((done) => done > 0 && done < many).length).toBeGreaterThan(0);
  for (const [kind, { requests, slowestMs }] of Object.entries(slowest)) {
    expect(requests, kind).toBeGreaterThan(0);
    expect(slowestMs, kind).toBeLessThan(maxWaitMs);
  }
});

test("kill -9 in the middle of a deletion: it continues, and every target is deleted once", { timeout: 900_000 }, async () => {
  const [fleet, kept] = [uniqueName("fleet"), uniqueName("kept")];
  const count = 6_000;
  await importLines(fleet, count);
  await importLines(kept, 1_000);
  for (const { index } of replicasOf(stack, "controller"))
    await stack.restart("controller", index, "controller.delete-targets.after-commit:2");
  await stack.restart("management", 0, "management.delete-targets.after-commit:1");
  await answering(stack);
  // The replica that answers dies of it, and so do both that delete.
  await removeAll(fleet, count).catch(() => undefined);
  await answering(stack);
  await eventually(
    async () => {
      const { content } = await admin.get<{ content: (Operation & { subject: string })[] }>("operations?limit=1");
      expect(content).toMatchObject([{ subject: `controllerid==${fleet}-*`, status: "finished", done: count, total: count }]);
    },
    300_000,
    500,
  );
  expect(deaths.map((name) => name.replace(/-\d+$/, "")).sort()).toEqual(["controller", "controller", "management"]);
  expect([await total(fleet), await total(kept)]).toEqual([0, 1_000]);
  const { rows } = await withClient(stack.adminDatabaseUrl as string, (client) =>
    client.query(
      `select count(*)::int as n, count(distinct item -> 'data' ->> 'controllerId')::int as targets
         from controller.outbox o cross join json_array_elements(o.items) item
        where o.type = 'io.update.target.deleted.v1' and item -> 'data' ->> 'controllerId' like $1`,
      [`${fleet}-%`],
    ),
  );
  expect(rows).toEqual([{ n: count, targets: count }]);
});
