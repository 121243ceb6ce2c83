import type { LinkProps } from "@tanstack/react-router";
import { ArrowDownToLine, Gauge, type LucideIcon, MonitorSmartphone, Package, Rocket, ScrollText, Workflow } from "lucide-react";
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
      { to: "/devices", label: t.devices, icon: MonitorSmartphone, needs: [r.targets.list] },
      { to: "/software", label: t.software, icon: Package, needs: [r.distributionSets.list] },
      { to: "/auto-assign", label: t.filters, icon: Workflow, needs: [r.targetFilters.list] },
      { to: "/actions", label: t.actions, icon: ArrowDownToLine, needs: [r.actions.list] },
      { to: "/audit", label: t.audit, icon: ScrollText, needs: [r.audit.list] },
    ],
  },
];

/** The places that somebody with these permissions may go to; parts without any are left out. */
export function placesFor(permissions: readonly string[]): typeof places {
  const may = ({ needs }: Place) =>
    needs.length === 0 || needs.some(({ permission }) => permission.every((name) => permissions.includes(name)));
  return places.map(({ part, places: all }) => ({ part, places: all.filter(may) })).filter(({ places: left }) => left.length > 0);
}
