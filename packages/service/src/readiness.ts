/** A condition that holds with a warning: the warning is shown, and the service stays ready. */
export interface ReadinessWarning {
  readonly warning: string;
}

type Verdict = boolean | string | readonly string[] | ReadinessWarning | undefined;

/**
 * One condition of readiness: it answers `true`, nothing or a warning when it holds, `false` or a reason (or a list of missing things) when it does
 * not. An exception is a reason too.
 */
export type ReadinessCheck = () => Promise<Verdict> | Promise<void>;
export type ReadinessChecks = Readonly<Record<string, ReadinessCheck>>;

export interface Readiness {
  ready: boolean;
  /** The results `ok`, `degraded: …` or the reason, by name of the check. */
  checks: Record<string, string>;
}

const checkTimeoutMs = 2_000;
const cacheMs = 500;

/**
 * Runs all checks at most twice a second, however many requests there are. It uses a monotonic clock, because the system clock may be what is
 * wrong.
 */
export function createReadiness(checks: ReadinessChecks, now: () => number = () => performance.now()): () => Promise<Readiness> {
  let last: { at: number; result: Promise<Readiness> } | undefined;
  return () => {
    if (last === undefined || now() - last.at >= cacheMs) last = { at: now(), result: runAll(checks) };
    return last.result;
  };
}

async function runAll(checks: ReadinessChecks): Promise<Readiness> {
  const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await runOne(check)] as const));
  const checked = results.map(([name, result]) => [name, typeof result === "string" ? result : `degraded: ${result.warning}`] as const);
  return { ready: results.every(([, result]) => result === "ok" || typeof result !== "string"), checks: Object.fromEntries(checked) };
}

async function runOne(check: ReadinessCheck): Promise<string | ReadinessWarning> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve("no answer in time"), checkTimeoutMs);
  });
  try {
    return await Promise.race([(check() as Promise<Verdict>).then(describe), late]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

function describe(result: Verdict): string | ReadinessWarning {
  if (result === undefined || result === true) return "ok";
  if (result === false) return "not ready";
  if (typeof result === "string" || "warning" in result) return result;
  return result.length === 0 ? "ok" : `missing: ${result.join(", ")}`;
}
