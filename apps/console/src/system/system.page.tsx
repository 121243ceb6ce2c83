import { getRouteApi } from "@tanstack/react-router";
import { lazy } from "react";
import { r } from "../api/client.ts";
import { system as t } from "../text/en.ts";
import { type Part, Parts } from "../ui/parts.tsx";

const route = getRouteApi("/in/system/{-$part}");

const parts: readonly Part[] = [
  {
    id: "tenants",
    label: t.parts.tenants,
    needs: r.tenants.list,
    Body: lazy(() => import("./tenants.page.tsx").then(({ Tenants: it }) => ({ default: it }))),
  },
  {
    id: "operations",
    label: t.parts.operations,
    needs: r.operations.list,
    Body: lazy(() => import("./operations.page.tsx").then(({ Operations: it }) => ({ default: it }))),
  },
  {
    id: "status",
    label: t.parts.status,
    needs: r.systemStatus.get,
    Body: lazy(() => import("./status.page.tsx").then(({ Status: it }) => ({ default: it }))),
  },
];

/** What the operator of the installation sees, and the background work of the tenant. */
export function SystemPage() {
  const { part } = route.useParams();
  return <Parts title={t.title} label={t.partList} to="/system/{-$part}" part={part} parts={parts} />;
}
