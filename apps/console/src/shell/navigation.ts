import type { LinkProps } from "@tanstack/react-router";
import {
  ArrowDownToLine,
  ChartLine,
  CircleCheck,
  Gauge,
  type LucideIcon,
  MonitorSmartphone,
  Package,
  Rocket,
  ScrollText,
  Server,
  Settings,
  Workflow,
} from "lucide-react";
import { r } from "../api/client.ts";
import { nav as t } from "../text/en.ts";

export interface Place {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly label: string;
  readonly icon: LucideIcon;
  /** It is shown to whoever may call one of these operations. */
  readonly needs: readonly { readonly permission: readonly string[] }[];
}

/** The pages of the navigation, by part. */
export const places: readonly { readonly part: string; readonly places: readonly Place[] }[] = [
  {
    part: t.fleet,
    places: [
      { to: "/", label: t.overview, icon: Gauge, needs: [] },
      { to: "/rollouts", label: t.rollouts, icon: Rocket, needs: [r.rollouts.list] },
      { to: "/approvals", label: t.approvals, icon: CircleCheck, needs: [r.rollouts.approve] },
      { to: "/devices", label: t.devices, icon: MonitorSmartphone, needs: [r.targets.list] },
      { to: "/software", label: t.software, icon: Package, needs: [r.distributionSets.list] },
      { to: "/auto-assign", label: t.filters, icon: Workflow, needs: [r.targetFilters.list] },
      { to: "/actions", label: t.actions, icon: ArrowDownToLine, needs: [r.actions.list] },
      { to: "/reports", label: t.reports, icon: ChartLine, needs: [r.insights.monthlyTargets, r.insights.monthlyActions] },
      { to: "/audit", label: t.audit, icon: ScrollText, needs: [r.audit.list] },
    ],
  },
  {
    part: t.manage,
    places: [
      {
        to: "/settings/{-$part}",
        label: t.settings,
        icon: Settings,
        needs: [r.configs.list, r.targetTypes.list, r.users.list, r.roles.list, r.apiKeys.list],
      },
      { to: "/system/{-$part}", label: t.system, icon: Server, needs: [r.operations.list] },
    ],
  },
];

/** The places that somebody with these permissions may go to; parts without any are left out. */
export function placesFor(permissions: readonly string[]): typeof places {
  const may = ({ needs }: Place) =>
    needs.length === 0 || needs.some(({ permission }) => permission.every((name) => permissions.includes(name)));
  return places.map(({ part, places: all }) => ({ part, places: all.filter(may) })).filter(({ places: left }) => left.length > 0);
}

/** The permission that somebody lacks for the page of a route, or undefined if they may see it, or no place of the navigation leads there. */
export function lackingAt(path: string, permissions: readonly string[]): string | undefined {
  const place = places
    .flatMap(({ places: all }) => all)
    .find(({ to }) => to !== "/" && `${path}/`.startsWith(`${to.replace("/{-$part}", "")}/`));
  if (place === undefined || place.needs.length === 0) return undefined;
  const lacks = place.needs.map(({ permission }) => permission.find((name) => !permissions.includes(name)));
  return lacks.includes(undefined) ? undefined : lacks[0];
}
