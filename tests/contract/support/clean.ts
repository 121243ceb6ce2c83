import { createHash } from "node:crypto";
import { baseUrl, credentials } from "./http.ts";

/** The links of the examples lead to this address. */
export const exampleAddress = "https://updates.example.com";
/** These members hold credentials. */
const secrets = /^(securityToken|apiKey|clientSecret|client_secret|password|newPassword|passwordHash|access_token|x|y|n|kid)$/;
const noSecret = "not-a-real-secret";
/** These members hold an id or ids; a number that is a whole body, or an element of a list that is one, is an id too. */
const ids = /^(id|body|stopId|rollout|targetType|autoAssignDistributionSet|targetTypeScopes|[a-z]\w*Id)$/;
/** This is the first moment of the examples; the others follow a minute apart, in their original order. */
const firstMoment = Date.UTC(2026, 0, 1);
/** This is the last day of the examples, that of their moments; the others precede it one by one, in their original order. */
const lastDay = firstMoment;
const dayMs = 86_400_000;

const momentPattern = /\b1[6-9]\d{11}\b/g;
const monthPattern = /(?<!\d)20\d\d-(?:0[1-9]|1[0-2])(?![-\d])/g;
const dayPattern = /(?<!\d)20\d\d-\d\d-\d\d(?!\d)/g;
const idInAddress = /(?<=\/)\d+(?=[/?]|$)/g;
const namePattern = /(?<![a-z])([a-z]+)-([0-9a-f]{14}x)/g;

/** A list shows at most this many elements, and a map of many similar members at most as many members. */
const maxElements = 2;
const manyMembers = 12;

/**
 * Replaces what differs from run to run (addresses, names, ids, moments, checksums, secrets) by the same text in every run; equal values stay equal.
 * It also shortens long lists. One cleaner serves one request and its answer.
 */
export function createCleaner(): <T>(pair: T) => T {
  const moments = new Map<string, number>();
  const days = new Map<string, string>();
  const months = new Map<string, string>();
  const numbers = new Map<string, number>();
  const names = new Map<string, string>();

  const idOf = (id: string): number => known(numbers, id, () => numbers.size + 1);
  const nameOf = (prefix: string, rest: string): string => {
    const same = () => [...names.keys()].filter((name) => name.startsWith(`${prefix}-`)).length + 1;
    return known(names, `${prefix}-${rest}`, () => `${prefix === "c" ? "example" : prefix}-${same()}`);
  };
  const clean = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return cleanText(value, key);
    if (typeof value === "number") {
      const moment = moments.get(String(value));
      if (moment !== undefined) return moment;
      return ids.test(key) && Number.isInteger(value) && value > 0 ? idOf(String(value)) : value;
    }
    if (Array.isArray(value)) return value.slice(0, maxElements).map((item) => clean(item, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(shortened(value).map(([name, member]) => [cleanText(name, ""), clean(member, name)]));
  };
  const cleanText = (text: string, key: string): string => {
    if (secrets.test(key) || text === credentials.gatewayKey) return noSecret;
    if (/^(requestId)$/.test(key)) return "example-request";
    if (ids.test(key) && /^\d+$/.test(text)) return String(idOf(text));
    return text
      .replaceAll(baseUrl, exampleAddress)
      .replaceAll(/127\.0\.0\.1(?::\d{4,5}(?=\/))?/g, "192.0.2.1")
      .replaceAll(namePattern, (_all, prefix: string, rest: string) => nameOf(prefix, rest))
      .replaceAll(/\b([a-z]+-\d+)-[0-9a-f]{6}\b/g, "$1")
      .replaceAll(/\bharrier-\d+-[0-9a-f]{8}\b/g, "harrier-11-00000000")
      .replaceAll(/(?<=^amqps?:\/\/[^:]+:)[^@]+(?=@)/g, noSecret)
      .replaceAll(momentPattern, (moment) => String(moments.get(moment)))
      .replaceAll(idInAddress, (id) => String(idOf(id)))
      .replaceAll(/(?<=\bid==)\d+/g, (id) => String(idOf(id)))
      .replaceAll(/(?<=\?c=)-?\d+/g, "1")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "00000000-0000-7000-8000-000000000001")
      .replaceAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b/g, ({ length }) => checksum(length))
      .replaceAll(/\boc_[\w-]+/g, "oc_example")
      .replaceAll(dayPattern, (day) => String(days.get(day)))
      .replaceAll(monthPattern, (month) => months.get(month) ?? month);
  };
  return (pair) => {
    const text = JSON.stringify(pair);
    const found = new Set(text.match(momentPattern) ?? []);
    for (const [n, moment] of [...found].sort().entries()) moments.set(moment, firstMoment + n * 60_000);
    const foundDays = [...new Set(text.match(dayPattern) ?? [])].sort().reverse();
    for (const [n, day] of foundDays.entries()) days.set(day, new Date(lastDay - n * dayMs).toISOString().slice(0, 10));
    const foundMonths = [...new Set(text.match(monthPattern) ?? [])].sort().reverse();
    for (const [n, month] of foundMonths.entries()) months.set(month, new Date(Date.UTC(2026, -n)).toISOString().slice(0, 7));
    return clean(pair, "") as typeof pair;
  };
}

/** Shortens a page to one item, with the count to match, and a map of many similar members to the first few. */
function shortened(value: object): [string, unknown][] {
  const members = Object.entries(value);
  if ("content" in value && "total" in value && "size" in value && Array.isArray(value.content)) {
    const content = value.content.slice(0, 1);
    return Object.entries({ content, total: content.length, size: content.length });
  }
  const alike = members.length > manyMembers && members.every(([, member]) => typeof member === "object" && member !== null);
  return alike ? members.slice(0, maxElements) : members;
}

/** Makes a checksum of that many hexadecimal digits. */
function checksum(length: number): string {
  const algorithms: Record<number, string> = { 32: "md5", 40: "sha1", 64: "sha256" };
  return createHash(algorithms[length] as string)
    .update("an example")
    .digest("hex");
}

function known<T>(found: Map<string, T>, key: string, make: () => T): T {
  const value = found.get(key) ?? make();
  found.set(key, value);
  return value;
}
