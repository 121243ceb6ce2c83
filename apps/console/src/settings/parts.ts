import { r } from "../api/client.ts";
import { settings } from "../text/en.ts";

const t = settings.parts;

/** The parts of the settings; the search of the console leads to them too. */
export const settingParts = [
  { id: "general", label: t.general, needs: r.configs.list },
  { id: "polling", label: t.polling, needs: r.configs.list },
  { id: "sign-in", label: t.signIn, needs: r.configs.list },
  { id: "quotas", label: t.quotas, needs: r.quotas.list },
  { id: "types", label: t.types, needs: r.targetTypes.list },
  { id: "tags", label: t.tags, needs: r.targetTags.list },
  { id: "users", label: t.users, needs: r.users.list },
  { id: "roles", label: t.roles, needs: r.roles.list },
  { id: "keys", label: t.keys, needs: r.apiKeys.list },
  { id: "clients", label: t.clients, needs: r.oauth2Clients.list },
  { id: "webhooks", label: t.webhooks, needs: r.webhooks.list },
] as const;
export type SettingPart = (typeof settingParts)[number]["id"];
