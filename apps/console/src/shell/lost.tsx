import { Link } from "@tanstack/react-router";
import { MapPinOff } from "lucide-react";
import { shell as t } from "../text/en.ts";
import { buttonClass } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";

/** The page of an address that leads nowhere. */
export function Lost() {
  return (
    <main>
      <Empty alone title={t.lostTitle} text={t.lostText} icon={MapPinOff}>
        <Link to="/" className={buttonClass("primary")}>
          {t.home}
        </Link>
      </Empty>
    </main>
  );
}
