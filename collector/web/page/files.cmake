# The page over the store: one style and one script, of these files in this order; from collector/web/.
set(web_page_css ../render/page/html_app.css page/web_app.css)
set(web_page_js page/web_times.js ../render/page/element.js ../render/page/kind_words.js
  ../render/page/amount.js page/web_grid.js page/web_where.js page/web_state.js page/web_ask.js page/web_heat.js
  page/web_list.js page/web_graph.js page/web_bar.js
  page/web_follow.js page/web_app.js)
