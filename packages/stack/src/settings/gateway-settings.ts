import { isIP } from "node:net";
import { resolve } from "node:path";
import { StartError } from "../start-error.ts";
import { given, type Value } from "./read-value.ts";

const addressLists = ["HARRIER_TRUSTED_PROXIES", "HARRIER_RATE_EXEMPT"];
const rateNames = ["ADDRESS", "DEVICE", "TENANT"].flatMap((whose) =>
  ["READS", "WRITES", "DOWNLOADS"].map((what) => `HARRIER_RATE_${whose}_${what}`),
);
const userRateNames = ["USER", "USERS"].flatMap((whose) => ["READS", "WRITES"].map((what) => `HARRIER_RATE_${whose}_${what}`));
const byteRateNames = ["HARRIER_RATE_DEVICE_BYTES", "HARRIER_RATE_TENANT_BYTES"];
const concurrencyNames = [
  "HARRIER_IN_FLIGHT_TENANT",
  "HARRIER_IN_FLIGHT_DEVICE",
  "HARRIER_CONNECTIONS_TOTAL",
  "HARRIER_CONNECTIONS_ADDRESS",
];
const drainNames = ["HARRIER_DRAIN_MS", "HARRIER_DRAIN_TRANSFERS_MS"];
const consoleName = "HARRIER_CONSOLE";
const shareName = "HARRIER_OTLP_RATIO";
/** The list of issuers may also be given as the path of a file. */
export const issuersName = "HARRIER_OIDC_ISSUERS";
const failureNames = ["ACCOUNT", "USER", "ADDRESS", "ADDRESS_DEVICES"].map((whose) => `HARRIER_SIGN_IN_FAILURES_${whose}`);
const tlsFileNames = ["CERT", "KEY", "CLIENT_CA"].map((what) => `HARRIER_HTTPS_${what}_FILE`);
/** The settings that are whole numbers, and what they count. */
const numbers: readonly { names: readonly string[]; what: string }[] = [
  { names: [...rateNames, ...userRateNames], what: "requests a second" },
  { names: byteRateNames, what: "bytes a second" },
  { names: concurrencyNames, what: "a number of them at once" },
  { names: drainNames, what: "milliseconds" },
  { names: failureNames, what: "failures a minute" },
];
/** These are passed on unchanged to the gateway, which knows their defaults. */
export const gatewayNames = [
  "HARRIER_PUBLIC_URL",
  consoleName,
  shareName,
  "HARRIER_CERTIFICATE_HEADERS",
  issuersName,
  ...addressLists,
  ...rateNames,
  ...userRateNames,
  ...byteRateNames,
  ...concurrencyNames,
  ...drainNames,
  ...failureNames,
  "HARRIER_HTTPS_PORT",
  ...tlsFileNames,
];

/** Reads the gateway's settings and reports errors here in one line, because the gateway could only fail to start. */
export function readGateway(value: Value): Record<string, string> {
  const all = given(gatewayNames, value);
  for (const { name, text } of all) {
    if (addressLists.includes(name)) checkAddresses(name, text);
    const what = numbers.find(({ names }) => names.includes(name))?.what;
    if (what !== undefined && !/^\d{1,9}$/.test(text)) throw new StartError(`${name} must be ${what}, not "${text}"`);
    if (name === "HARRIER_HTTPS_PORT" && !(/^\d{1,5}$/.test(text) && Number(text) <= 65_535))
      throw new StartError(`${name} must be a port, not "${text}"`);
    if (name === shareName && !/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text))
      throw new StartError(`${name} must be a number from 0 to 1, not "${text}"`);
    if (name === "HARRIER_PUBLIC_URL" && !/^https?:\/\/[^\s]+$/.test(text))
      throw new StartError(`HARRIER_PUBLIC_URL must be a URL like https://updates.example.com, not "${text}"`);
    if (name === issuersName && !isJsonList(text))
      throw new StartError(
        `${name} must be a JSON list like [{"issuer": "https://id.example.com", "audience": "harrier", "tenant": "DEFAULT"}]`,
      );
    if (
      name === "HARRIER_CERTIFICATE_HEADERS" &&
      text !== "none" &&
      !text.split(",").every((pair) => /^[\w-]+:[\w-]+(%d)?$/.test(pair.trim()))
    )
      throw new StartError(`HARRIER_CERTIFICATE_HEADERS must be like X-Common-Name:X-Issuer-Hash-%d, not "${text}"`);
  }
  // the gateway reads the files from any working directory
  const isPath = (name: string, text: string) => tlsFileNames.includes(name) || (name === consoleName && text !== "none");
  return Object.fromEntries(all.map(({ name, text }) => [name, isPath(name, text) ? resolve(text) : text]));
}

function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function checkAddresses(name: string, text: string): void {
  if (text === "none") return;
  for (const entry of text.split(",").map((part) => part.trim())) {
    const [address = "", length = "0", ...more] = entry.split("/");
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (entry === "" || more.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > maxBits)
      throw new StartError(`${name} must be addresses and networks like 10.0.0.0/8,::1 or "none", not "${entry}"`);
  }
}
