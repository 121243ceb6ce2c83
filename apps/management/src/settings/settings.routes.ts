import { configs, type Surface } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { convertValue } from "./convert-value.ts";
import { settingJson, settingsJson } from "./setting.json.ts";
import { settingSchemas } from "./setting-schema.json.ts";
import {
  getSetting,
  listSettings,
  putSettings,
  resetSetting,
  revisionOfSetting,
  revisionOfSettings,
  type SettingsDeps,
} from "./settings.ts";

/** Serves the settings of the tenant (spec 001 §4.7; contract management.md §4.11, §8). */
export function mountSettings(mount: Mount, deps: SettingsDeps): void {
  mount(configs.list, async (ctx) => {
    const settings = await listSettings(deps, ctx.identity);
    return { body: settingsJson(ctx, settings), revision: revisionOfSettings(settings) };
  });

  const schemas = settingSchemas();
  mount(configs.schema, () => ({ body: schemas }));

  mount(configs.get, async (ctx) => {
    const setting = await getSetting(deps, ctx.identity, ctx.params.key);
    return { body: settingJson(ctx, setting), revision: revisionOfSetting(setting) };
  });

  mount(configs.put, async (ctx) => {
    const [setting] = await putSettings(
      deps,
      ctx.identity,
      new Map([[ctx.params.key, given(ctx.surface, ctx.params.key, ctx.body.value)]]),
      { one: ctx.params.key, ifMatch: ctx.ifMatch },
    );
    return setting === undefined ? {} : { body: settingJson(ctx, setting) };
  });

  mount(configs.putMany, async (ctx) => {
    const values = Object.entries(ctx.body).map(([key, value]) => [key, given(ctx.surface, key, value)] as const);
    const settings = await putSettings(deps, ctx.identity, new Map(values), { ifMatch: ctx.ifMatch });
    return { body: settings.map((setting) => settingJson(ctx, setting)) };
  });

  mount(configs.delete, async (ctx) => resetSetting(deps, ctx.identity, ctx.params.key, ctx.surface));
}

/** The dialect of hawkBit 1.x converts a value to the type of its key; the specification demands that type (contract management.md §8.2). */
function given(surface: Surface, key: string, value: unknown): unknown {
  return surface === "rest" ? convertValue(key, value) : value;
}
