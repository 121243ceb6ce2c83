import { getRouteApi } from "@tanstack/react-router";
import { lazy } from "react";
import { r } from "../api/client.ts";
import { settings as t } from "../text/en.ts";
import { type Part, Parts } from "../ui/parts.tsx";

const route = getRouteApi("/in/settings/{-$part}");

const Configs = lazy(() => import("./configs.page.tsx").then(({ Configs: it }) => ({ default: it })));
const needs = r.configs.list;

const parts: readonly Part[] = [
  { id: "general", label: t.parts.general, needs, Body: Configs },
  { id: "polling", label: t.parts.polling, needs, Body: Configs },
  { id: "sign-in", label: t.parts.signIn, needs, Body: Configs },
  {
    id: "quotas",
    label: t.parts.quotas,
    needs: r.quotas.list,
    Body: lazy(() => import("./quotas.page.tsx").then(({ Quotas: it }) => ({ default: it }))),
  },
  {
    id: "types",
    label: t.parts.types,
    needs: r.targetTypes.list,
    Body: lazy(() => import("./types.page.tsx").then(({ Types: it }) => ({ default: it }))),
  },
  {
    id: "tags",
    label: t.parts.tags,
    needs: r.targetTags.list,
    Body: lazy(() => import("./tags.page.tsx").then(({ Tags: it }) => ({ default: it }))),
  },
  {
    id: "users",
    label: t.parts.users,
    needs: r.users.list,
    Body: lazy(() => import("./users.page.tsx").then(({ Users: it }) => ({ default: it }))),
  },
  {
    id: "roles",
    label: t.parts.roles,
    needs: r.roles.list,
    Body: lazy(() => import("./roles.page.tsx").then(({ Roles: it }) => ({ default: it }))),
  },
  {
    id: "keys",
    label: t.parts.keys,
    needs: r.apiKeys.list,
    Body: lazy(() => import("./keys.page.tsx").then(({ Keys: it }) => ({ default: it }))),
  },
  {
    id: "clients",
    label: t.parts.clients,
    needs: r.oauth2Clients.list,
    Body: lazy(() => import("./clients.page.tsx").then(({ Clients: it }) => ({ default: it }))),
  },
  {
    id: "webhooks",
    label: t.parts.webhooks,
    needs: r.webhooks.list,
    Body: lazy(() => import("./webhooks.page.tsx").then(({ Webhooks: it }) => ({ default: it }))),
  },
];

/** The settings of the tenant, and what it is managed by. */
export function SettingsPage() {
  const { part } = route.useParams();
  return <Parts title={t.title} label={t.partList} to="/settings/{-$part}" part={part} parts={parts} />;
}
