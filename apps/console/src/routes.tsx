import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from "@tanstack/react-router";
import { ApiError } from "./api/client.ts";
import { forgetDrafts } from "./api/drafts.ts";
import { queryClient } from "./api/query-client.ts";
import { me, signedIn, signInSilently } from "./api/session.ts";
import {
  colsSearch,
  compareSearch,
  groupSearch,
  listSearch,
  loginSearch,
  monthsSearch,
  tabListSearch,
  tabSearch,
  wizardSearch,
} from "./search.ts";
import { Lost } from "./shell/lost.tsx";
import { Shell } from "./shell/shell.tsx";
import { Failure, Skeleton } from "./ui/states.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: Lost });

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: loginSearch,
  component: lazyRouteComponent(() => import("./login/login.page.tsx"), "LoginPage"),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "in",
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      forgetDrafts(await queryClient.ensureQueryData(me));
      signedIn();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      // The browser leaves the page; nothing is drawn meanwhile.
      if (signInSilently(location.href)) await new Promise(() => undefined);
      throw redirect({ to: "/login", search: { to: location.href } });
    }
  },
});

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: lazyRouteComponent(() => import("./overview/overview.page.tsx"), "OverviewPage"),
});

const devices = createRoute({
  getParentRoute: () => shell,
  path: "/devices",
  validateSearch: (given: Record<string, unknown>) => ({ ...listSearch(given), ...colsSearch(given) }),
  component: lazyRouteComponent(() => import("./devices/devices.page.tsx"), "DevicesPage"),
});

const device = createRoute({
  getParentRoute: () => shell,
  path: "/devices/$controllerId",
  validateSearch: tabSearch,
  component: lazyRouteComponent(() => import("./device/device.page.tsx"), "DevicePage"),
});

const rollouts = createRoute({
  getParentRoute: () => shell,
  path: "/rollouts",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./rollouts/rollouts.page.tsx"), "RolloutsPage"),
});

const wizard = createRoute({
  getParentRoute: () => shell,
  path: "/rollouts/new",
  validateSearch: wizardSearch,
  component: lazyRouteComponent(() => import("./wizard/wizard.page.tsx"), "WizardPage"),
});

const rollout = createRoute({
  getParentRoute: () => shell,
  path: "/rollouts/$rolloutId",
  validateSearch: groupSearch,
  component: lazyRouteComponent(() => import("./rollout/rollout.page.tsx"), "RolloutPage"),
});

const software = createRoute({
  getParentRoute: () => shell,
  path: "/software",
  validateSearch: tabListSearch,
  component: lazyRouteComponent(() => import("./software/software.page.tsx"), "SoftwarePage"),
});

const set = createRoute({
  getParentRoute: () => shell,
  path: "/software/sets/$setId",
  component: lazyRouteComponent(() => import("./software/set.page.tsx"), "SetPage"),
});

const compare = createRoute({
  getParentRoute: () => shell,
  path: "/software/compare",
  validateSearch: compareSearch,
  component: lazyRouteComponent(() => import("./software/compare.page.tsx"), "ComparePage"),
});

const module = createRoute({
  getParentRoute: () => shell,
  path: "/software/modules/$moduleId",
  component: lazyRouteComponent(() => import("./software/module.page.tsx"), "ModulePage"),
});

const filters = createRoute({
  getParentRoute: () => shell,
  path: "/auto-assign",
  validateSearch: tabListSearch,
  component: lazyRouteComponent(() => import("./filters/filters.page.tsx"), "FiltersPage"),
});

const filter = createRoute({
  getParentRoute: () => shell,
  path: "/filters/$filterId",
  component: lazyRouteComponent(() => import("./filters/filter.page.tsx"), "FilterPage"),
});

const actions = createRoute({
  getParentRoute: () => shell,
  path: "/actions",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./actions/actions.page.tsx"), "ActionsPage"),
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: "/audit",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./audit/audit.page.tsx"), "AuditPage"),
});

const auditEntry = createRoute({
  getParentRoute: () => shell,
  path: "/audit/$auditId",
  component: lazyRouteComponent(() => import("./audit/entry.page.tsx"), "AuditEntryPage"),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings/{-$part}",
  validateSearch: tabListSearch,
  component: lazyRouteComponent(() => import("./settings/settings.page.tsx"), "SettingsPage"),
});

const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./approvals/approvals.page.tsx"), "ApprovalsPage"),
});

const reports = createRoute({
  getParentRoute: () => shell,
  path: "/reports",
  validateSearch: monthsSearch,
  component: lazyRouteComponent(() => import("./reports/reports.page.tsx"), "ReportsPage"),
});

const system = createRoute({
  getParentRoute: () => shell,
  path: "/system/{-$part}",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./system/system.page.tsx"), "SystemPage"),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: "/me",
  component: lazyRouteComponent(() => import("./me/me.page.tsx"), "MePage"),
});

const routeTree = root.addChildren([
  login,
  shell.addChildren([
    home,
    devices,
    device,
    rollouts,
    wizard,
    rollout,
    software,
    set,
    compare,
    module,
    filters,
    filter,
    actions,
    audit,
    auditEntry,
    reports,
    approvals,
    settings,
    system,
    account,
  ]),
]);

/** The tree of addresses below `/console`. No first segment may be `controller`: devices of a tenant called `console` poll there. */
export const router = createRouter({
  routeTree,
  basepath: new URL(document.baseURI).pathname.replace(/\/$/, ""),
  defaultPreload: "intent",
  defaultPendingMs: 300,
  defaultPendingComponent: () => <Skeleton lines={8} />,
  defaultErrorComponent: ({ error, reset }) => <Failure alone error={error} retry={reset} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
