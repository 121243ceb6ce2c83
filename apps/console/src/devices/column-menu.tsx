import { Menu } from "@base-ui/react/menu";
import { Columns3 } from "lucide-react";
import { devices as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import overlay from "../ui/overlay.module.css";
import { allColumns, type ColumnId } from "./devices.state.ts";

/** Chooses the columns, which the address of the page holds. */
export function ColumnMenu({ columns, onChange }: { columns: readonly ColumnId[]; onChange: (columns: ColumnId[]) => void }) {
  const toggle = (id: ColumnId) => onChange(columns.includes(id) ? columns.filter((one) => one !== id) : [...columns, id]);
  return (
    <Menu.Root>
      <Menu.Trigger render={<Button style={{ height: 36 }} />}>
        <Columns3 size={14} aria-hidden />
        {t.choose}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={overlay["positioner"]} sideOffset={6} align="end">
          <Menu.Popup className={overlay["menu"]}>
            {allColumns
              .filter((id) => id !== "name")
              .map((id) => (
                <Menu.CheckboxItem
                  key={id}
                  className={overlay["item"]}
                  checked={columns.includes(id)}
                  onCheckedChange={() => toggle(id)}
                  closeOnClick={false}
                >
                  <span aria-hidden>{columns.includes(id) ? "✓" : "\u2003"}</span>
                  {t.columns[id]}
                </Menu.CheckboxItem>
              ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
