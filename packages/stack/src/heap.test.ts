import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { heapOf } from "./heap.ts";

const compose = readFileSync(new URL("../../../deploy/compose/compose.yaml", import.meta.url), "utf8");

test.each(Object.entries(heapOf))("in a container of %s a service has the same heap as under npm start", (service, flags) => {
  const [, options] = new RegExp(`\\n  ${service}:\\n(?:    .*\\n)*?      NODE_OPTIONS: (.*)\\n`).exec(compose) ?? [];
  expect(options).toBe(flags.join(" "));
});
