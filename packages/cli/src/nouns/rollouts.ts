import { readFileSync } from "node:fs";
import type { RouteRow } from "@harrier/client";
import type { RolloutView } from "@harrier/contracts";
import { given, type OptionRow, type Options, text, type Verb } from "../command.ts";
import { usage } from "../exit.ts";
import { auditColumns, type Column } from "../output/columns.ts";
import { linesOf } from "../output/screen.ts";
import { oneLine } from "../output/terminal.ts";
import { idOf } from "../resolve.ts";
import { readTree } from "../rollout-tree.ts";
import { waitForRollout } from "../rollout-wait.ts";
import { r } from "../routes.ts";
import { durationOf, type Session, wholeOf } from "../session.ts";
import { setEntity } from "./catalogue.ts";
import { type Entity, noun, stepVerb, verbsOf } from "./entity.ts";
import { rolloutReads } from "./rollout-more.ts";
import { watchVerb } from "./rollout-watch.ts";

const columns: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "NAME", at: "name" },
  { head: "STATUS", at: "status" },
  { head: "TARGETS", at: "totalTargets" },
  { head: "DONE", at: "totalTargetsPerStatus.finished" },
  { head: "FAILED", at: "totalTargetsPerStatus.error" },
  { head: "REASON", at: "statusReason.reason", wide: true },
  { head: "SET", at: "distributionSetId", wide: true },
  { head: "QUERY", at: "targetFilterQuery", wide: true },
  ...auditColumns,
];
const groupColumns: readonly Column[] = [
  { head: "ID", at: "id" },
  { head: "NAME", at: "name" },
  { head: "STATUS", at: "status" },
  { head: "TARGETS", at: "totalTargets" },
  { head: "DONE", at: "totalTargetsPerStatus.finished" },
  { head: "FAILED", at: "totalTargetsPerStatus.error" },
];

export const rolloutEntity: Entity = {
  word: "rollout",
  list: r.rollouts.list,
  listQuery: { representation: "full" },
  param: "rolloutId",
  columns,
  get: r.rollouts.get,
  update: r.rollouts.update,
  updates: [
    { flags: "--name <name>", text: "another name", member: "name" },
    { flags: "--description <text>", text: "what it is for", member: "description" },
  ],
  delete: r.rollouts.delete,
};

const createOptions: readonly OptionRow[] = [
  ["--set <name:version>", "what they get"],
  ["-q, --query <fiql>", "the targets"],
  ["--groups <n>", "so many groups of equal size; 1 by default"],
  ["--success <percent>", "a group is done when so many have succeeded; 100 by default"],
  ["--error <percent>", "the rollout pauses when so many of a group have failed; 100 by default"],
  ["--type <type>", "forced (default), soft, timeforced, downloadonly"],
  ["--description <text>", "what it is for"],
  ["--weight <n>", "0 to 1000"],
  ["--policy <name>", "the safety policy; none for none"],
  ["--confirm", "devices ask their users first"],
  ["--file <file>", "the body as JSON, for everything else"],
];
const waitOptions: readonly OptionRow[] = [
  ["--wait [state]", "wait until it is so far: ready, running, finished"],
  ["--timeout <duration>", "wait no longer; 30m by default"],
];

/** Reads a file that holds one JSON object; what is no such file is a wrong usage. */
function objectIn(file: string): Record<string, unknown> {
  const content = readFileSync(file === "-" ? 0 : file, "utf8");
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw usage(`${file}: is no object`);
  return value as Record<string, unknown>;
}

async function bodyOf(session: Session, name: string, options: Options) {
  const number = (option: string) => {
    const value = text(options, option);
    return value === undefined ? undefined : wholeOf(value, `--${option}`);
  };
  const [amountGroups, weight] = [number("groups"), number("weight")];
  const file = text(options, "file");
  const body = file === undefined ? {} : objectIn(file);
  const set = text(options, "set");
  if (set === undefined && body["distributionSetId"] === undefined) throw usage("--set is missing");
  const percent = (option: string) => {
    const value = text(options, option);
    return value === undefined ? undefined : { condition: "THRESHOLD", expression: value };
  };
  return {
    ...(body["groups"] === undefined ? { amountGroups: 1 } : {}),
    ...body,
    ...given({
      name,
      distributionSetId: set === undefined ? undefined : await idOf(session, setEntity, set),
      targetFilterQuery: text(options, "query"),
      amountGroups,
      successCondition: percent("success"),
      errorCondition: percent("error"),
      type: text(options, "type"),
      description: text(options, "description"),
      weight,
      confirmationRequired: options["confirm"],
      safety: text(options, "policy") === undefined ? undefined : { policy: text(options, "policy") },
    }),
  } as { name: string };
}

const timeoutOf = (options: Options): number => durationOf(text(options, "timeout") ?? "30m", "--timeout");

/** Reads what `--wait` waits for, and how long; it is read before anything is changed. Without `--wait` nothing is waited for. */
function waitOf(options: Options, usual: string): { wanted: string | undefined; deadline: number } {
  const wanted = options["wait"] === undefined ? undefined : (text(options, "wait") ?? usual);
  if (wanted !== undefined && !["ready", "running", "finished", "paused", "stopped"].includes(wanted))
    throw usage("--wait is ready, running, finished, paused or stopped");
  return { wanted, deadline: Date.now() + timeoutOf(options) };
}

/** Waits until `deadline` (epoch ms) at most. */
async function waited(session: Session, rollout: RolloutView, { wanted, deadline }: ReturnType<typeof waitOf>): Promise<RolloutView> {
  if (wanted === undefined) return rollout;
  return waitForRollout(session, rollout.id, { wanted, timeoutMs: Math.max(0, deadline - Date.now()) });
}

const create: Verb = {
  name: "create",
  summary: "Create a rollout; with --start it is started as soon as it is ready",
  args: "<name>",
  writes: true,
  options: [...createOptions, ["--start", "start it when it is ready"], ...waitOptions],
  async run(session, [name = ""], options) {
    const wait = waitOf(options, options["start"] ? "finished" : "ready");
    const made = await session.write(r.rollouts.create, { body: await bodyOf(session, name, options) });
    if (options["start"]) {
      await waitForRollout(session, made.id, { wanted: "ready", timeoutMs: wait.deadline - Date.now() });
      await session.write(r.rollouts.start, { params: { rolloutId: made.id } });
    }
    await session.one(await waited(session, made, wait), columns);
  },
};

const watch = watchVerb(rolloutEntity);
const step = (name: string, summary: string, row: RouteRow, done: string, more: object = {}) =>
  stepVerb(rolloutEntity, { name, summary, row, done, ...more });
const remarkOption = ["--remark <text>", "why"] as const;
const remark = { options: [remarkOption] };

/** A step behind which a rollout goes on by itself, so that there is something to wait for. */
function goesOn(name: string, summary: string, row: RouteRow, more: readonly OptionRow[] = []): Verb {
  return {
    name,
    summary,
    args: "<name>",
    completes: [rolloutEntity],
    writes: true,
    options: [...more, ...waitOptions],
    async run(session, [of = ""], options) {
      const wait = waitOf(options, "finished");
      const params = { rolloutId: await idOf(session, rolloutEntity, of) };
      const query = given({ remark: text(options, "remark") });
      await session.write(row as never, { params, ...(Object.keys(query).length === 0 ? {} : { query }) } as never);
      await session.one(await waited(session, await session.read(r.rollouts.get, { params }), wait), columns);
    },
  };
}

export const rollouts = noun(["rollout", "rollouts", "ro"], "Rollouts: a set for many targets, group by group", [
  ...verbsOf(rolloutEntity),
  create,
  {
    name: "preview",
    summary: "Say what a rollout would be, without creating it",
    args: "<name>",
    options: createOptions,
    async run(session, [name = ""], options) {
      const preview = await session.read(r.rollouts.preview, { body: await bodyOf(session, name, options) });
      await session.one(preview, [
        { head: "CANDIDATES", at: "candidates" },
        { head: "MATCHED", at: "matched" },
        { head: "EXCLUDED", at: "excluded" },
        { head: "GROUPS", at: "groups" },
      ]);
    },
  },
  goesOn("start", "Start a rollout that is ready", r.rollouts.start),
  step("pause", "Pause a running rollout", r.rollouts.pause, "is paused"),
  goesOn("resume", "Resume a paused rollout", r.rollouts.resume),
  goesOn("next", "Begin the next group now", r.rollouts.triggerNextGroup),
  step("stop", "Stop a rollout for good", r.rollouts.stop, "is stopped", { destructive: true }),
  step("retry", "Create a rollout for the targets that it has failed on", r.rollouts.retry, "is tried again"),
  goesOn("approve", "Approve a rollout that waits for it", r.rollouts.approve, [remarkOption]),
  step("deny", "Deny a rollout that waits for approval", r.rollouts.deny, "is denied", remark),
  {
    name: "status",
    summary: "Show a rollout with its groups; with --watch until it has ended",
    args: "<name>",
    completes: [rolloutEntity],
    options: [
      ["--watch", "go on until it has ended"],
      ["--timeout <duration>", "watch no longer; 24h by default"],
    ],
    async run(session, args, options) {
      if (options["watch"]) return watch.run(session, args, options);
      const rolloutId = await idOf(session, rolloutEntity, args[0] ?? "");
      const rollout = await session.read(r.rollouts.get, { params: { rolloutId } });
      if (session.options.output === "table")
        return session.print(
          `${linesOf(await readTree(session, rollout))
            .map(oneLine)
            .join("\n")}\n`,
        );
      const page = await session.read(r.rollouts.listGroups, { params: { rolloutId }, query: { representation: "full", limit: 500 } });
      await session.one({ ...rollout, groups: page.content }, columns);
    },
  },
  watch,
  {
    name: "wait",
    finishes: true,
    summary: "Wait for a rollout: exit 0 reached, 2 stopped or paused by its threshold, 3 not in time",
    args: "<name>",
    completes: [rolloutEntity],
    options: [
      ["--for <state>", "finished by default"],
      ["--timeout <duration>", "wait no longer; 30m by default"],
    ],
    async run(session, [name = ""], options) {
      const wait = waitOf({ ...options, wait: text(options, "for") ?? "finished" }, "finished");
      const rolloutId = await idOf(session, rolloutEntity, name);
      const rollout = await session.read(r.rollouts.get, { params: { rolloutId } });
      await session.one(await waited(session, rollout, wait), columns);
    },
  },
  {
    name: "groups",
    summary: "List the groups of a rollout",
    args: "<name>",
    completes: [rolloutEntity],
    async run(session, [name = ""]) {
      const params = { rolloutId: await idOf(session, rolloutEntity, name) };
      await session.rows(session.list(r.rollouts.listGroups, { all: true }, { params, query: { representation: "full" } }), groupColumns);
    },
  },
  ...rolloutReads(rolloutEntity),
  {
    name: "failures",
    summary: "List why targets of a rollout have failed, the most frequent first",
    args: "<name>",
    completes: [rolloutEntity],
    async run(session, [name = ""]) {
      const page = await session.read(r.rollouts.failures, { params: { rolloutId: await idOf(session, rolloutEntity, name) } });
      await session.rows(page.content, [
        { head: "COUNT", at: "count" },
        { head: "CODE", at: "code" },
        { head: "MESSAGE", at: "message" },
        { head: "DEVICES", at: (row: { sample: string[] }) => row.sample.join(" ") },
      ]);
    },
  },
]);
