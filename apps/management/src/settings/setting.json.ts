import type { ConfigEntryView, ConfigView } from "@harrier/contracts";
import { encoded, type View } from "@harrier/query";
import type { Setting } from "./settings.ts";

const hrefOf = (base: string, key: string): string => `${base}/system/configs/${encoded(key)}`;

/** Renders one setting (spec 001 §2.8); it has no audit members while the default applies. */
export function settingJson({ base }: View, { key, value, global, audit }: Setting): ConfigView {
  return { value, global, ...audit, _links: { self: { href: hrefOf(base, key) } } };
}

/** Renders all settings by key. In the dialect of hawkBit 1.x their links are an array, as its clients know them (contract clients.md, quirk 19). */
export function settingsJson(view: View, settings: readonly Setting[]): Record<string, ConfigView | ConfigEntryView> {
  return Object.fromEntries(
    settings.map((setting) => {
      const { _links, ...rest } = settingJson(view, setting);
      const links = [{ rel: "self", href: hrefOf(view.base, setting.key) }];
      return [setting.key, view.surface === "rest" ? { ...rest, links } : { ...rest, _links }];
    }),
  );
}
