import { systemStatus } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { checkOperator } from "../tenants/tenants.ts";
import { readSystemStatus } from "./system-status.ts";

/** Serves the status of the installation (contract console.md §3) to its operator alone. */
export function mountSystemStatus(mount: Mount, deps: Parameters<typeof readSystemStatus>[0]): void {
  mount(systemStatus.get, async (ctx) => {
    checkOperator(ctx.identity);
    return { body: await readSystemStatus(deps) };
  });
}
