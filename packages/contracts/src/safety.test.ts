import { HarrierError } from "@harrier/errors";
import { describe, expect, test } from "vitest";
import { parseWith } from "./parse.ts";
import { checkProvable, freezeSafety, mergeSafety, resolvePolicy, safetyBody } from "./safety.ts";
import { evidenceInForce, evidenceRules, readEvidenceSetting, resolveEvidence, type SetFacts } from "./safety-evidence.ts";
import { resolvedPolicy } from "./safety-policy.ts";
import { withoutNulls } from "./values.ts";

const read = (value: unknown) => parseWith(withoutNulls(safetyBody), value, "body");
const freeze = (value: unknown) => freezeSafety(read(value), "safety");

function errorOf(run: () => unknown): { code: string; paths: string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof HarrierError)) throw error;
    const violations = error.info?.["violations"] as { path: string }[];
    return { code: error.code, paths: violations.map(({ path }) => path) };
  }
  throw new Error("nothing was refused");
}

describe("beyond 1.1: each member has its range", () => {
  test.each<[string, unknown]>([
    ["proof.stable.polls", { proof: { stable: { polls: 101 } } }],
    ["proof.stable.polls", { proof: { stable: { polls: -1 } } }],
    ["proof.stable.minutes", { proof: { stable: { minutes: 10_081 } } }],
    ["proof.graceSeconds", { proof: { graceSeconds: 86_401 } }],
    ["proof.withinSeconds", { proof: { withinSeconds: 59 } }],
    ["proof.withinSeconds", { proof: { withinSeconds: 2_592_001 } }],
    ["proof.watchHours", { proof: { watchHours: 721 } }],
    ["limits.notFetchedSeconds", { limits: { notFetchedSeconds: 59 } }],
    ["limits.downloadingSeconds", { limits: { downloadingSeconds: 2_592_001 } }],
    ["limits.installingSeconds", { limits: { installingSeconds: 0 } }],
    ["limits.giveUpSeconds", { limits: { giveUpSeconds: 1 } }],
    ["retry.max", { retry: { max: 0 } }],
    ["retry.max", { retry: { max: 11 } }],
    ["retry.delaySeconds", { retry: { max: 1, delaySeconds: -1 } }],
    ["retry.backoff", { retry: { max: 1, backoff: 0.5 } }],
    ["retry.maxDelaySeconds", { retry: { max: 1, maxDelaySeconds: 2_592_001 } }],
    ["retry.codes.1", { retry: { max: 1, codes: [1, "600-500"] } }],
    ["retry.codes.0", { retry: { max: 1, codes: ["5xx"] } }],
    ["retry.notCodes.0", { retry: { max: 1, notCodes: [2_147_483_648] } }],
    ["retry.codes", { retry: { max: 1, codes: Array.from({ length: 51 }, (_, n) => n) } }],
    ["policy", { policy: "p".repeat(65) }],
  ])("%s", (path, value) => {
    expect(errorOf(() => read(value))).toEqual({ code: "constraintViolation", paths: [path] });
  });

  test.each<[string, unknown]>([
    ["proof.require", { proof: { require: "faith" } }],
    ["proof.fallback", { proof: { fallback: "pray" } }],
    ["proof.onExpiry", { proof: { onExpiry: "none" } }],
    ["proof.graceSeconds", { proof: { graceSeconds: 1.5 } }],
    ["limits.count", { limits: { count: "success" } }],
    ["retry.waitingCounts", { retry: { waitingCounts: "finished" } }],
    ["skip", { skip: "all" }],
    ["proof", { proof: true }],
  ])("%s of another kind is unreadable", (path, value) => {
    expect(errorOf(() => read(value))).toEqual({ code: "bodyNotReadable", paths: [path] });
  });

  test.each<[string, unknown]>([
    ["proof.withinSeconds", { proof: { graceSeconds: 3_000, stable: { minutes: 20 } } }],
    ["limits.giveUpSeconds", { limits: { installingSeconds: 3_600, giveUpSeconds: 3_599 } }],
    ["retry.maxDelaySeconds", { retry: { max: 1, delaySeconds: 60, maxDelaySeconds: 59 } }],
    ["retry.max", { retry: { delaySeconds: 60 } }],
  ])("safety.%s contradicts another member or is missing", (path, value) => {
    expect(errorOf(() => freeze(value))).toEqual({ code: "constraintViolation", paths: [`safety.${path}`] });
  });
});

describe("a policy is frozen with its defaults", () => {
  test("proof {}", () => {
    expect(freeze({ proof: {} })).toEqual({
      proof: {
        require: "version",
        fallback: "alive",
        stable: { polls: 2, minutes: 0 },
        graceSeconds: 900,
        withinSeconds: 3_600,
        onExpiry: "error",
        watchHours: 0,
      },
      skip: "assigned",
    });
  });

  test("limits and retry; null is absent, and the longest delay follows a long first one", () => {
    expect(
      freeze({ proof: null, limits: { installingSeconds: 60, giveUpSeconds: null }, retry: { max: "3", delaySeconds: 90_000 } }),
    ).toEqual({
      limits: { installingSeconds: 60, count: "error" },
      retry: {
        max: 3,
        delaySeconds: 90_000,
        backoff: 2,
        maxDelaySeconds: 90_000,
        withoutCode: true,
        onSilent: false,
        waitingCounts: "running",
      },
      skip: "assigned",
    });
  });

  test.each([{}, { policy: "none" }, { policy: "NONE", skip: "assigned" }])("%o watches nothing", (value) => {
    expect(freeze(value)).toBeNull();
  });

  test("members that were sent take the place of the policy's, one by one", () => {
    const named = { proof: { watchHours: 5, stable: { polls: 7, minutes: 1 } }, limits: { installingSeconds: 60 } };
    expect(mergeSafety(named, { policy: "careful", proof: { stable: { minutes: 3 } }, skip: "installed" })).toEqual({
      policy: "careful",
      proof: { watchHours: 5, stable: { polls: 7, minutes: 3 } },
      limits: { installingSeconds: 60 },
      skip: "installed",
    });
    expect(mergeSafety({ limits: { installingSeconds: 60 } }, { policy: "slow" })).toEqual({
      policy: "slow",
      limits: { installingSeconds: 60 },
    });
  });

  test("beyond 1.26: proof of what is only downloaded is refused", () => {
    const refusal = errorOf(() => checkProvable(freeze({ proof: {} }), "downloadonly", "safety"));
    expect(refusal).toEqual({ code: "constraintViolation", paths: ["safety.proof"] });
    checkProvable(freeze({ limits: { installingSeconds: 60 } }), "downloadonly", "safety");
    checkProvable(freeze({ proof: {} }), "forced", "safety");
  });
});

const facts: SetFacts = {
  name: "gateway",
  version: "1.3",
  metadata: { board: "imx8", long: "x".repeat(128) },
  modules: { os: { name: "linux", version: "6.1", metadata: { build: "b-7", empty: "" } } },
};
const rule = (equals: string, match = "exact") => ({ attribute: "sw_version", equals, match });
const rules = (value: unknown) => parseWith(evidenceRules, value, "body");

describe("beyond 1.2: rules of evidence become plain values", () => {
  test.each([
    [`\${set.name}-\${set.version}`, "gateway-1.3"],
    [`\${module.os.name}:\${module.os.version}`, "linux:6.1"],
    [`\${set.metadata.board}/\${module.os.metadata.build}`, "imx8/b-7"],
    ["1.3", "1.3"],
    [`$\${set.version}$`, "$1.3$"],
  ])("%s", (equals, value) => {
    expect(resolveEvidence(rules([rule(equals)]), facts, "e")).toEqual({
      expected: [{ key: "sw_version", value, match: "exact" }],
      violations: [],
    });
  });

  test.each([`\${module.app.version}`, `\${set.metadata.constructor}`, `\${module.constructor.name}`, `\${module.os.metadata.none}`])(
    "a rule drops out if the set lacks what it names: %s",
    (equals) => {
      expect(resolveEvidence(rules([rule(equals)]), facts, "e")).toEqual({ expected: [], violations: [] });
    },
  );

  test.each([`\${module.os.metadata.empty}`, `v\${set.metadata.long}`])("a value that no device can send is refused: %s", (equals) => {
    expect(resolveEvidence(rules([rule(equals)]), facts, "e")).toMatchObject({ expected: [], violations: [{ path: "e.0.equals" }] });
  });

  test.each([`\${set.id}`, `\${}`, `\${module.os}`, `\${target.name}`, `\${set.version`, `\${set.metadata.}`, `\${\${set.name}}`])(
    "%s is no template",
    (equals) => {
      expect(errorOf(() => rules([rule(equals)]))).toEqual({ code: "constraintViolation", paths: ["0.equals"] });
    },
  );

  test("eight rules are the most", () => {
    expect(rules(Array.from({ length: 8 }, () => rule("1")))).toHaveLength(8);
    expect(errorOf(() => rules(Array.from({ length: 9 }, () => rule("1")))).code).toBe("constraintViolation");
  });

  test("the setting is a JSON text, and what cannot be read counts as none", () => {
    expect(readEvidenceSetting("")).toEqual([]);
    expect(readEvidenceSetting('[{"attribute":"v","equals":"1"}]')).toEqual([{ attribute: "v", equals: "1", match: "exact" }]);
    expect(() => readEvidenceSetting("{}")).toThrow();
    expect(evidenceInForce("nonsense")).toEqual([]);
    expect(evidenceInForce(null)).toEqual([]);
  });
});

describe("controller takes the policy that results", () => {
  const expected = [{ key: "sw_version", value: "1.3", match: "exact" as const }];

  test.each([
    ["version with evidence", { proof: {} }, expected, { require: "version", expected }],
    ["beyond 1.16: version without evidence falls back", { proof: {} }, [], { require: "alive", expected: [] }],
    ["refuse stays with the reported version", { proof: { fallback: "refuse" } }, [], { require: "version", expected: [] }],
    ["alive needs no evidence", { proof: { require: "alive" } }, expected, { require: "alive", expected: [] }],
  ])("%s", (_, value, given, proof) => {
    const frozen = freeze(value);
    if (!frozen) throw new Error("nothing is watched");
    const policy = resolvePolicy(frozen, given);
    expect(resolvedPolicy.parse(policy)).toEqual(policy);
    expect(policy.proof).toMatchObject(proof);
  });

  test("codes are ranges", () => {
    const frozen = freeze({
      policy: "p",
      retry: { max: 2, codes: ["500-599", -7, "-9--8"], notCodes: [503] },
      limits: { giveUpSeconds: 60 },
    });
    if (!frozen) throw new Error("nothing is watched");
    const policy = resolvePolicy(frozen, []);
    expect(resolvedPolicy.parse(policy)).toEqual(policy);
    expect(policy.retry).toMatchObject({
      codes: [
        { from: 500, to: 599 },
        { from: -7, to: -7 },
        { from: -9, to: -8 },
      ],
      notCodes: [{ from: 503, to: 503 }],
    });
  });
});
