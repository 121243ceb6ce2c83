import pg from "pg";
import { pollStatements } from "../../../../apps/controller/src/poll/poll.sql.ts";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";

const readPoll = pollStatements().one;
const connections = 4;
const statements = 20_000;

/** Runs the poll's one statement in a closed loop on a few connections: this is what a poll would cost without any HTTP. */
export async function measurePollStatement(bench: Bench, ids: readonly string[]): Promise<{ perSecond: number; cpuMs: number }> {
  const pool = new pg.Pool({ connectionString: bench.stack.databaseUrls.controller, max: connections });
  let place = 0;
  const run = async (n: number): Promise<void> => {
    let left = n;
    const worker = async (): Promise<void> => {
      const client = await pool.connect();
      while (left-- > 0) {
        const id = ids[place++ % ids.length] as string;
        await client.query({ name: readPoll.name, text: readPoll.text, values: [1, id, null] });
      }
      client.release();
    };
    await Promise.all(Array.from({ length: connections }, worker));
  };
  await run(2_000);
  const groups = [{ name: "client", pids: [process.pid] }, ...bench.groups().filter((g) => g.name.startsWith("postgres"))];
  const before = cpuSeconds(groups);
  const from = performance.now();
  await run(statements);
  const seconds = (performance.now() - from) / 1_000;
  const cpu = total(difference(cpuSeconds(groups), before));
  await pool.end();
  return { perSecond: statements / seconds, cpuMs: (cpu * 1_000) / statements };
}
