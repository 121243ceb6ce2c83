import { configs } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { settingJson, settingsJson } from "./setting.json.ts";
import { getSetting, listSettings, putSettings, resetSetting, type SettingsDeps } from "./settings.ts";

/** Tenant-wide settings (spec 001 §4.7; contract management.md §4.11, §8). */
export function mountSettings(mount: Mount, deps: SettingsDeps): void {
  mount(configs.list, async (ctx) => ({ body: settingsJson(ctx, await listSettings(deps, ctx.identity)) }));

  mount(configs.get, async (ctx) => ({ body: settingJson(ctx, await getSetting(deps, ctx.identity, ctx.params.key)) }));

  mount(configs.put, async (ctx) => {
    const [setting] = await putSettings(deps, ctx.identity, new Map([[ctx.params.key, ctx.body.value]]));
    return setting === undefined ? {} : { body: settingJson(ctx, setting) };
  });

  mount(configs.putMany, async (ctx) => {
    const settings = await putSettings(deps, ctx.identity, new Map(Object.entries(ctx.body)));
    return { body: settings.map((setting) => settingJson(ctx, setting)) };
  });

  mount(configs.delete, async (ctx) => resetSetting(deps, ctx.identity, ctx.params.key));
}
