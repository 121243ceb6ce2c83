import { runThings, type Things } from "@harrier/simulator";
import { eventually } from "@harrier/testkit";
import type { Bench } from "../lib/context.ts";
import { cpuSeconds, difference, total } from "../lib/cpu.ts";
import { runCycles } from "../lib/device-cycle.ts";
import { assign, seedSet, seedTargets } from "../lib/seed.ts";

const devices = 2_000;
const limitMs = 600_000;
const countEveryMs = 250;
/** What a thing gets and sends in a cycle: the instruction, and three reports. */
const messagesPerCycle = 4;

interface Access {
  readonly users: Readonly<Record<string, { readonly amqpUri: string }>>;
}

/** Measures whole updates of devices that speak DMF beside the same ones over HTTP, both without the download. The broker's own CPU is not counted. */
export async function benchDmf(bench: Bench): Promise<void> {
  const { api, report } = bench;
  const set = await seedSet(api, "dmf-set");
  const measure = async (work: () => Promise<void>) => {
    const groups = bench.groups();
    const before = cpuSeconds(groups);
    const from = performance.now();
    await work();
    return { seconds: (performance.now() - from) / 1_000, cpuMs: (total(difference(cpuSeconds(groups), before)) * 1_000) / devices };
  };

  const overHttp = await seedTargets(api, "dmf-http-", devices);
  const http = await measure(async () => {
    const actions = await assign(api, set.id, overHttp);
    await runCycles({ url: bench.stack.baseUrl, ids: overHttp, actions, set, downloads: false });
  });

  const access = await api.post<Access>("/system/amqp/dmf", {});
  const ids = Array.from({ length: devices }, (_, i) => `dmf-amqp-${i}`);
  const url = Object.values(access.users)[0]?.amqpUri ?? "";
  let things: Things | undefined;
  try {
    const count = async (query: string) => (await api.get<{ total: number }>(`/targets?limit=1&q=${encodeURIComponent(query)}`)).total;
    /** Waits for what the broker has taken, which costs the services nothing, and asks management for the rest alone. */
    const until = async (taken: (things: Things) => number, query: string) => {
      await eventually(() => {
        if (things === undefined || taken(things) < devices) throw new Error(`not all things have spoken: ${query}`);
      }, limitMs);
      await eventually(
        async () => {
          const n = await count(query);
          if (n !== devices) throw new Error(`${n} of ${devices}: ${query}`);
        },
        limitMs,
        countEveryMs,
      );
    };
    const registered = await measure(async () => {
      things = await runThings({ url, ids });
      await until((all) => all.report().sent, "controllerid==dmf-amqp-*");
    });
    const byMessage = await measure(async () => {
      await assign(api, set.id, ids);
      await until((all) => all.report().finals.length, "controllerid==dmf-amqp-*;updatestatus==in_sync");
    });
    const add = report.add;
    const limit = "the same over HTTP";
    add({ scenario: "dmf", figure: "registrations", value: devices / registered.seconds, unit: "/s" });
    add({ scenario: "dmf", figure: "messages in a cycle, both ways", value: (devices * messagesPerCycle) / byMessage.seconds, unit: "/s" });
    add({
      scenario: "dmf",
      figure: "cycles: told, 3 reports",
      value: devices / byMessage.seconds,
      unit: "/s",
      limit: `${(devices / http.seconds).toFixed(0)} /s: ${limit}`,
    });
    add({
      scenario: "dmf",
      figure: "CPU per cycle, all processes but the broker",
      value: byMessage.cpuMs,
      unit: "ms",
      limit: `${http.cpuMs.toFixed(2)} ms: ${limit}`,
    });
  } finally {
    await things?.stop();
  }
}
