// The parts of ECharts that are used, and nothing else of it.
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, setPlatformAPI, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, LineChart, ScatterChart, GridComponent, LabelLayout, SVGRenderer]);

export { init, setPlatformAPI };
export type { ECharts } from "echarts/core";
