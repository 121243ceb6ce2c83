import type { ConfigEntryView, ConfigView } from "@harrier/contracts";
import { encoded, type View } from "../lists/json.ts";
import type { Setting } from "./settings.ts";

const hrefOf = (base: string, key: string): string => `${base}/system/configs/${encoded(key)}`;

/** One setting (spec 001 §2.8); without audit members while the default applies. */
export function settingJson({ base }: View, { key, value, global, audit }: Setting): ConfigView {
  return { value, global, ...audit, _links: { self: { href: hrefOf(base, key) } } };
}

/** All settings by key. Where hawkBit 1.x is spoken their links are an array, as its clients know them (contract clients.md, quirk 19). */
export function settingsJson(view: View, settings: readonly Setting[]): Record<string, ConfigView | ConfigEntryView> {
  return Object.fromEntries(
    settings.map((setting) => {
      const { _links, ...rest } = settingJson(view, setting);
      const links = [{ rel: "self", href: hrefOf(view.base, setting.key) }];
      return [setting.key, view.surface === "rest" ? { ...rest, links } : { ...rest, _links }];
    }),
  );
}
