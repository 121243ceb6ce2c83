import { createDatabase } from "@harrier/db";
import { verifyAll } from "./audit/verify-trail.ts";
import { readVerifyConfig } from "./config.ts";

// `node dist/audit-verify.js` recomputes the audit trails of all services and prints one line each; it exits with 1 when one of them is broken
// (docs/operations.md).
const config = readVerifyConfig();
const db = createDatabase({ url: config.HARRIER_DATABASE_URL, applicationName: "harrier/audit-verify", max: 1 });
try {
  const valid = await verifyAll({ db: db.pool, now: Date.now, keys: config.HARRIER_AUDIT_PUBLIC_KEYS }, (found) =>
    process.stdout.write(`${JSON.stringify(found)}\n`),
  );
  process.exitCode = valid ? 0 : 1;
} finally {
  await db.close();
}
