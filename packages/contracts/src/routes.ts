import { device } from "./device/device.contract.ts";
import { downloads } from "./device/downloads.contract.ts";
import { actions } from "./management/actions.contract.ts";
import { artifacts } from "./management/artifacts.contract.ts";
import { distributionSets } from "./management/distribution-sets.contract.ts";
import { rollouts } from "./management/rollouts.contract.ts";
import { softwareModules } from "./management/software-modules.contract.ts";
import { configs, userinfo } from "./management/system.contract.ts";
import { targetActions } from "./management/target-actions.contract.ts";
import { targets } from "./management/targets.contract.ts";
import { distributionSetTypes, softwareModuleTypes } from "./management/types.contract.ts";
import type { Route } from "./route.ts";

/** The routes by feature, for the handlers: `routeTable.targets.get`. */
export const routeTable = {
  device: { ...device, ...downloads },
  softwareModules,
  artifacts,
  softwareModuleTypes,
  distributionSetTypes,
  distributionSets,
  targets: { ...targets, ...targetActions },
  actions,
  rollouts,
  configs,
  userinfo,
};

/** Every operation of both interfaces. Order matters where two paths overlap: the first match wins. */
export const routes: readonly Route[] = Object.values(routeTable).flatMap((feature) => Object.values(feature) as Route[]);
