import { getRouteApi } from "@tanstack/react-router";
import { type ComponentType, lazy } from "react";
import { system as t } from "../text/en.ts";
import { Parts } from "../ui/parts.tsx";
import { type SystemPart, systemParts } from "./parts.ts";

const route = getRouteApi("/in/system/{-$part}");

const bodies: Readonly<Record<SystemPart, ComponentType<{ readonly part: string }>>> = {
  tenants: lazy(() => import("./tenants.page.tsx").then(({ Tenants: it }) => ({ default: it }))),
  operations: lazy(() => import("./operations.page.tsx").then(({ Operations: it }) => ({ default: it }))),
  status: lazy(() => import("./status.page.tsx").then(({ Status: it }) => ({ default: it }))),
};
const parts = systemParts.map((part) => ({ ...part, Body: bodies[part.id] }));

/** What the operator of the installation sees, and the background work of the tenant. */
export function SystemPage() {
  const { part } = route.useParams();
  return <Parts title={t.title} label={t.partList} to="/system/{-$part}" part={part} parts={parts} />;
}
