#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { runDemo } from "./demo/demo.ts";
import { createProgress } from "./demo/progress.ts";
import { type SilentAt, silentMoments } from "./device/device.ts";
import { parseDuration } from "./duration.ts";
import { runFleet } from "./fleet.ts";
import { createHttp } from "./http.ts";
import { printCareful, printResult, statusLine } from "./print.ts";
import { runThings } from "./things.ts";

const env = process.env;
const defaultUrl = `http://127.0.0.1:${env["HARRIER_HTTP_PORT"] || 8080}`;

function number(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === "" || !(value >= min && value <= max)) throw new InvalidArgumentError(`must be a number from ${min} to ${max}`);
    return value;
  };
}

function seconds(text: string): number {
  try {
    return parseDuration(text) / 1000;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Where `npm start` keeps its data. */
const dataDir = () => env["HARRIER_DATA_DIR"] || ".harrier";

/** Answers the password from the option, the environment, or what `npm start` wrote into its data directory. */
function adminPassword(given: string | undefined): string {
  const named = given ?? env["HARRIER_ADMIN_PASSWORD"];
  if (named !== undefined && named !== "") return named;
  const file = join(dataDir(), "admin-password");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  throw new Error(
    `no admin password: give --password or HARRIER_ADMIN_PASSWORD, or run where npm start keeps its data (${file} is missing)`,
  );
}

/**
 * Makes a signal that aborts with the first Ctrl-C or SIGTERM; a second one exits at once. Ctrl-C arrives from the terminal and once more from a parent
 * that passes it on, so only one that comes a second later counts as the second.
 */
function untilSignal(): AbortSignal {
  const ending = new AbortController();
  let askedAt = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (ending.signal.aborted && Date.now() - askedAt > 1_000) process.exit(130);
      if (!ending.signal.aborted) askedAt = Date.now();
      ending.abort();
    });
  }
  return ending.signal;
}

const common = [
  new Option("--url <url>", "address of the gateway").default(defaultUrl),
  new Option("--tenant <name>", "tenant").default("DEFAULT"),
  new Option("--fail <share>", "share of updates that devices report as failed").default(0.05).argParser(number(0, 1)),
  new Option("--seed <number>", "decides which devices fail").default(1).argParser(number(0)),
  new Option("--pieces <count>", "range requests per file; 1: no range").default(4).argParser(number(1, 10_000)),
];

const program = new Command("simulate").description("A fleet of devices over plain HTTP, or by message over AMQP").showHelpAfterError();

interface RunFlags {
  readonly url: string;
  readonly tenant: string;
  readonly fail: number;
  readonly fallBack: number;
  readonly silent: number;
  readonly silentAt: SilentAt;
  readonly flaky: number;
  readonly seed: number;
  readonly pieces: number;
  readonly devices: number;
  readonly prefix: string;
  readonly gatewayToken?: string;
  readonly dmf?: string;
  readonly poll?: number;
  readonly concurrency: number;
  readonly for?: number;
  readonly json?: boolean;
}

const run = new Command("run").description("run devices until Ctrl-C").action((flags: RunFlags) => simulate(flags));
for (const option of common) run.addOption(option);
run
  .addOption(new Option("--devices <count>", "how many").default(100).argParser(number(1, 1_000_000)))
  .addOption(
    new Option("--fall-back <share>", "share of updates after which devices report success and show the old version")
      .default(0)
      .argParser(number(0, 1)),
  )
  .addOption(
    new Option("--silent <share>", "share of devices that never speak again from their first update on").default(0).argParser(number(0, 1)),
  )
  .addOption(
    new Option(
      "--silent-at <moment>",
      "when these stop: before they fetch or download it, after the download (install), or after they have reported success (reboot)",
    )
      .choices(silentMoments)
      .default("install"),
  )
  .addOption(new Option("--flaky <share>", "share of devices whose first update fails with code 503").default(0).argParser(number(0, 1)))
  .option("--prefix <name>", "devices are called <name>-<number>", "sim")
  .addOption(new Option("--gateway-token <token>", "the tenant's gateway token").env("HARRIER_GATEWAY_TOKEN"))
  .option("--dmf <url>", "the devices speak DMF over AMQP, at this address of the tenant's virtual host (amqpUri)")
  .addOption(new Option("--poll <duration>", "instead of what the server asks for, e.g. 5s").argParser(seconds))
  .addOption(new Option("--concurrency <count>", "devices that are busy at the same time").default(64).argParser(number(1, 10_000)))
  .addOption(new Option("--for <duration>", "end by itself after this time").argParser(seconds))
  .option("--json", "print the report as JSON at the end");
program.addCommand(run, { isDefault: true });

interface DemoFlags extends Pick<RunFlags, "url" | "tenant" | "fail" | "seed" | "pieces" | "devices" | "json"> {
  readonly user: string;
  readonly password?: string;
  readonly file?: string;
  readonly poll: number;
  readonly dmf?: string | true;
  readonly careful?: number;
  readonly timeout: number;
}

const demo = new Command("demo")
  .description("the main job end to end, then both sides compared")
  .action((flags: DemoFlags) => demonstrate(flags));
for (const option of common) demo.addOption(option);
demo
  .addOption(new Option("--devices <count>", "how many").default(200).argParser(number(3, 100_000)))
  .option("--file <path>", "upload this file instead of an archive made for the occasion")
  .option("--user <name>", "administrator", "admin")
  .option("--password <password>", "default: HARRIER_ADMIN_PASSWORD, or the one that npm start wrote into its data directory")
  .addOption(new Option("--poll <duration>", "time between two polls of a device").default(1, "1s").argParser(seconds))
  .option("--dmf [url]", "half of the devices speak DMF over AMQP: at this amqpUri, or DMF is enabled for the tenant, which needs a broker")
  .addOption(
    new Option("--careful [share]", "a rollout with a safety policy stops by itself, because this share of devices falls back")
      .preset("0.3")
      .argParser(number(0, 1)),
  )
  .addOption(new Option("--timeout <duration>", "give up after this time").default(900, "15m").argParser(seconds))
  .option("--json", "print the result as JSON at the end");
program.addCommand(demo);

/** They mean nothing to devices that wait for messages: the addresses of their files are in these. */
const overHttpAlone = ["url", "fallBack", "silent", "flaky", "gatewayToken", "poll"] as const;

/** Runs things that speak DMF: they wait for messages, and fetch what these name. Exchange and queue go with them. */
async function simulateThings(flags: RunFlags, url: string): Promise<void> {
  const given = overHttpAlone.filter((name) => run.getOptionValueSource(name) === "cli");
  const names = given.map((name) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  if (names.length > 0)
    throw new Error(`${names.join(", ")} cannot be given with --dmf: such devices do not poll, and fetch from where messages say`);
  const signal = untilSignal();
  const { tenant, fail, seed, devices: count, prefix, pieces, concurrency } = flags;
  const ids = Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(6, "0")}`);
  const http = createHttp(concurrency);
  const downloads = { http, pieces };
  const things = await runThings({ url, ids, tenant, fail, seed, downloads, exchange: `${prefix}.simulator.replies`, temporary: true });
  const until = flags.for === undefined ? Number.POSITIVE_INFINITY : Date.now() + flags.for * 1000;
  while (!signal.aborted && Date.now() < until) {
    await sleep(Math.min(5_000, Math.max(0, until - Date.now())), undefined, { signal }).catch(() => {});
    const { got, sent, finished, failed, reconnects, bytes } = things.report();
    const megabytes = (bytes / 1e6).toFixed(0);
    const line = `${count} things  got ${got}  sent ${sent}  ended ${finished}, ${failed} of them failed  ${megabytes} MB  reconnects ${reconnects}`;
    if (flags.json !== true) process.stdout.write(`${line}\n`);
  }
  const report = await things.stop();
  await http.close();
  if (flags.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  for (const violation of report.violations) process.stderr.write(`${violation}\n`);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

const noToken = `give --gateway-token (HARRIER_GATEWAY_TOKEN) for devices over HTTP, or --dmf.
The gateway token of a tenant is made in the console: Settings, Sign-in of devices, authentication.gatewaytoken. "npm run demo" needs none.`;

async function simulate(flags: RunFlags): Promise<void> {
  if (flags.dmf !== undefined) return await simulateThings(flags, flags.dmf);
  if (flags.gatewayToken === undefined) throw new Error(noToken);
  const signal = untilSignal();
  const {
    url,
    tenant,
    fail,
    seed,
    pieces,
    devices: count,
    prefix,
    gatewayToken,
    poll,
    concurrency,
  } = { ...flags, gatewayToken: flags.gatewayToken };
  // Whoever has just made a rollout would otherwise wait for minutes, and not know for what.
  if (poll === undefined && flags.json !== true)
    process.stderr.write("Devices poll as often as the server asks for, by default every five minutes; --poll 5s makes them quicker.\n");
  const fleet = runFleet({
    baseUrl: url,
    tenant,
    fail,
    fallBack: flags.fallBack,
    silent: flags.silent,
    silentAt: flags.silentAt,
    flaky: flags.flaky,
    seed,
    concurrency,
    rangePieces: pieces,
    devices: { count, prefix, gatewayToken },
    ...(poll === undefined ? {} : { pollSeconds: poll }),
  });
  const until = flags.for === undefined ? Number.POSITIVE_INFINITY : Date.now() + flags.for * 1000;
  for (let before = { at: Date.now(), report: fleet.report() }; !signal.aborted && Date.now() < until; ) {
    await sleep(Math.min(5_000, Math.max(0, until - Date.now())), undefined, { signal }).catch(() => {});
    const now = { at: Date.now(), report: fleet.report() };
    if (flags.json !== true) process.stdout.write(`${statusLine(before.report, now.report, (now.at - before.at) / 1000)}\n`);
    before = now;
  }
  const report = await fleet.stop();
  if (flags.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  for (const violation of report.violations) process.stderr.write(`${violation}\n`);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

async function demonstrate(flags: DemoFlags): Promise<void> {
  const progress = createProgress(process.stdout);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const { url, tenant, seed, pieces, devices, user, poll, file, dmf, careful, timeout } = flags;
  // In a careful run nothing but the devices that fall back shall stop the rollout, unless failures are asked for.
  const fail = careful !== undefined && demo.getOptionValueSource("fail") === "default" ? 0 : flags.fail;
  const result = await runDemo({
    baseUrl: url.replace(/\/+$/, ""),
    tenant,
    user,
    password: adminPassword(flags.password),
    fail,
    seed,
    devices,
    pollSeconds: poll,
    rangePieces: pieces,
    timeoutMs: timeout * 1000,
    signal: untilSignal(),
    say,
    onProgress: progress.show,
    ...(file === undefined ? {} : { file }),
    ...(dmf === undefined ? {} : { dmf }),
    ...(existsSync(dataDir()) ? { addressFile: join(dataDir(), `dmf-uri-${encodeURIComponent(tenant)}`) } : {}),
    ...(careful === undefined ? {} : { careful }),
  }).finally(progress.end);
  if (result.careful === undefined) printResult(result, say);
  else printCareful(result, result.careful, say);
  if (flags.json === true) say(JSON.stringify(result));
  process.exitCode = result.ok ? 0 : 1;
}

try {
  await program.parseAsync();
} catch (error) {
  const { name, message, cause } = error as Error;
  const reason = name === "AbortError" && cause instanceof Error ? cause.name : name;
  const words: Readonly<Record<string, string>> = { TimeoutError: "gave up: the time is over (--timeout)", AbortError: "interrupted" };
  process.stderr.write(`${words[reason] ?? message}\n`);
  process.exitCode = 1;
}
