import { expect, it } from "vitest";
import { memoryLog } from "../test-support/serve.ts";

it("credentials never reach the log, at the top or inside", () => {
  const { log, lines } = memoryLog();
  const secret = "s3cret-value";
  log.info({ authorization: secret, password: secret, "x-harrier-identity": secret }, "a");
  log.info({ headers: { authorization: secret, cookie: secret, "x-harrier-identity": secret } }, "b");
  log.info({ req: { headers: { authorization: secret }, body: { password: secret } }, target: { securityToken: secret } }, "c");
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toContain(secret);
  expect(lines[1]).toMatchObject({ level: "info", service: "controller", headers: { authorization: "***" } });
});
