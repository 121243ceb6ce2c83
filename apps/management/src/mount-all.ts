import type { Mount } from "@harrier/service";
import { mountActions } from "./actions/actions.routes.ts";
import { mountArtifacts } from "./artifacts/artifacts.routes.ts";
import { mountDistributionSets } from "./distribution-sets/distribution-sets.routes.ts";
import { mountUserinfo } from "./identity/userinfo.routes.ts";
import { withConflicts } from "./lists/conflicts.ts";
import { mountSettings } from "./settings/settings.routes.ts";
import { mountSoftwareModules } from "./software-modules/software-modules.routes.ts";
import { mountAssignment } from "./targets/assignment.routes.ts";
import { mountTargets } from "./targets/targets.routes.ts";
import { mountTypes } from "./types/types.routes.ts";

/** What the routes of all features need, together. */
export type Parts = Parameters<typeof mountTargets>[1] &
  Parameters<typeof mountDistributionSets>[1] &
  Parameters<typeof mountSettings>[1] &
  Parameters<typeof mountArtifacts>[1] &
  Parameters<typeof mountActions>[1] &
  Parameters<typeof mountAssignment>[1];

/** Every HTTP route of this service; what a constraint of the database refuses is the caller's 400 or 409, not a failure of ours. */
export function mountAll(register: Mount, parts: Parts): void {
  const mount: Mount = (route, handler) => register(route, (ctx) => withConflicts(async () => (await handler(ctx)) ?? undefined));
  mountUserinfo(mount);
  mountSettings(mount, parts);
  mountTypes(mount, parts);
  mountSoftwareModules(mount, parts);
  mountArtifacts(mount, parts);
  mountDistributionSets(mount, parts);
  mountTargets(mount, parts);
  mountAssignment(mount, parts);
  mountActions(mount, parts);
}
