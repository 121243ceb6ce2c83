import { getRouteApi } from "@tanstack/react-router";
import { type ComponentType, lazy } from "react";
import { settings as t } from "../text/en.ts";
import { Parts } from "../ui/parts.tsx";
import { type SettingPart, settingParts } from "./parts.ts";

const route = getRouteApi("/in/settings/{-$part}");

const Configs = lazy(() => import("./configs.page.tsx").then(({ Configs: it }) => ({ default: it })));
const bodies: Readonly<Record<SettingPart, ComponentType<{ readonly part: string }>>> = {
  general: Configs,
  polling: Configs,
  "sign-in": Configs,
  quotas: lazy(() => import("./quotas.page.tsx").then(({ Quotas: it }) => ({ default: it }))),
  types: lazy(() => import("./types.page.tsx").then(({ Types: it }) => ({ default: it }))),
  tags: lazy(() => import("./tags.page.tsx").then(({ Tags: it }) => ({ default: it }))),
  users: lazy(() => import("./users.page.tsx").then(({ Users: it }) => ({ default: it }))),
  roles: lazy(() => import("./roles.page.tsx").then(({ Roles: it }) => ({ default: it }))),
  keys: lazy(() => import("./keys.page.tsx").then(({ Keys: it }) => ({ default: it }))),
  clients: lazy(() => import("./clients.page.tsx").then(({ Clients: it }) => ({ default: it }))),
  webhooks: lazy(() => import("./webhooks.page.tsx").then(({ Webhooks: it }) => ({ default: it }))),
};
const parts = settingParts.map((part) => ({ ...part, Body: bodies[part.id] }));

/** The settings of the tenant, and what it is managed by. */
export function SettingsPage() {
  const { part } = route.useParams();
  return <Parts title={t.title} label={t.partList} to="/settings/{-$part}" part={part} parts={parts} />;
}
